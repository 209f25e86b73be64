"""Every page as its script runs, without a browser."""
