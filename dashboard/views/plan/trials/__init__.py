"""Trials on public tables: the first ones of all mechanisms, and those that make figures better. No private row."""
