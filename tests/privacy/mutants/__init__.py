"""Ways to break privacy, each with the check that must notice it."""
