"""Interactive answers: kept, timed and paid once. It imports rooms up to formulas."""
