"""Choose the worst answer, measure it, update, repeat (MWEM and its relatives)."""
