"""Each randomiser, by its law and by every possible draw."""
