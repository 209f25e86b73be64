"""How whole records are drawn from a model: rounding, and exchanges that keep tables of two columns."""
