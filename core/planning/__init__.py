"""Before anything is spent: expected errors, rehearsals, budgets for an accuracy. It imports rooms up to registry."""
