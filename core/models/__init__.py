"""What a release can be: a public model of a table. It imports rooms up to queries, and never private counts."""
