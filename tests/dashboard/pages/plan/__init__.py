"""The page Plan."""
