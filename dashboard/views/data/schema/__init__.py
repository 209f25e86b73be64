"""Beside the grid of the schema: many columns at once, what it amounts to, how exact its bins would be."""
