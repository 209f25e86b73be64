"""Questions whose answer is where rows are, never how many."""
