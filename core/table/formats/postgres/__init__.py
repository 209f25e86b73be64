"""Tables of a PostgreSQL database, read in pieces and encoded here."""
