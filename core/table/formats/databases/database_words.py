"""What is said when a table of a database cannot be read.

**Secrets** A driver's errors quote addresses and cells; each is replaced by one of these sentences, raised with nothing
behind it.
"""

from __future__ import annotations

UNREACHABLE = (
    "The database server cannot be reached, or has no such database; check that it runs, and its host, its port and "
    "the name of the database."
)
REFUSED = (
    "The database server refused the user, the password or the database; check all three, and keep the password in a "
    "password file of whoever runs this program ({file})."
)
NO_TABLE = "The database has no such table; check its name, and its schema if it has one, with large and small letters."
NOT_A_TABLE = "This name is no table of the database; views, foreign tables and the like cannot be used."
GONE = "The connection to the database server was lost while the table was read; try again."
BUSY = "The table is locked, or reading it took too long; try again when the server has less to do."
FULL = "The database server has no connection left; try again in a moment, or allow it more of them."
DENIED = "The user of the database may not read all of this table; grant it SELECT, and rows that no policy hides."
UNFORESEEN = "The database server could not read the table ({code}); look into its log."
COMPUTED = "Column '{name}' is computed by the database; store its values first."
