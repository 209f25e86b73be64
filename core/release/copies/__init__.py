"""Synthetic copies of a release, and the intervals that are made from them."""
