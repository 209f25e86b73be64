"""Tables of PostgreSQL, MariaDB and MySQL databases, read in pieces and encoded here."""
