"""What is promised and what it costs: units, budgets, events, accounting, all randomness. It imports base."""
