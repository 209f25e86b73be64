"""Questions about where rows are: boxes in which they crowd, and how unevenly they lie inside stretches."""
