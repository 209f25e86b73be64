"""Values that must never be seen."""
