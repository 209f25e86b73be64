"""What was spent and what came of it, in files that survive a crash. It imports base and privacy."""
