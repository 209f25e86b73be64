"""Ranges and boxes of ordered columns: trees of noisy counts, and the papers' noisy searches."""
