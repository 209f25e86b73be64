"""The page Budget: what was spent and what is left."""
