"""Where a network splits: ways to choose a cut, and the cuts that are worth comparing."""
