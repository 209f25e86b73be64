"""The page Help: the words, the settings, the mechanisms."""
