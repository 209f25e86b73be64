"""Rules that every record of a table obeys, as its curator declares them. It imports rooms up to formulas."""
