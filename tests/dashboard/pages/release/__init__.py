"""The page Release."""
