"""The query release game: a data player against a query player."""
