"""The ledger in a PostgreSQL database, for several servers: how it is reached, filled and written."""
