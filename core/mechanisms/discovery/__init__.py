"""Bounds and categories of columns without a schema, bought with a slice of the budget."""
