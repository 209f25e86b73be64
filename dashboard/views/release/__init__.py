"""The page Release: one summary, one button, the result."""
