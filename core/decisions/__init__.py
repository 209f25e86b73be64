"""Private decisions: one file per problem or way to decide it. It imports rooms up to mechanisms."""
