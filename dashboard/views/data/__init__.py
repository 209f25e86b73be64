"""The page Data: sources, uploads, the schema, the unit."""
