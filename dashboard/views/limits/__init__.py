"""The page Limits: what nobody can publish safely, shown on invented people and on the demo table, for everybody."""
