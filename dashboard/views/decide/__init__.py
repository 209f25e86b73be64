"""The page Decide: problems, prices, rehearsals and pictures of decisions."""
