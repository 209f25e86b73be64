"""How a model is fitted to noisy tables: consistency, raking, junction trees, updates."""
