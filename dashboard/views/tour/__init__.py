"""A guided tour over the pages, which can be left at any time."""
