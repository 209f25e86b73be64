"""A release beside its table, at a glance: exact, for the curator's eyes only. It imports what planning may."""
