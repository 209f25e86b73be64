"""Tables that are in no file: in a database, or on a cluster."""
