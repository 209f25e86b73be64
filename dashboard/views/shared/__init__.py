"""The page Shared, which visitors see."""
