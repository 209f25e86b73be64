"""Noise on every table that is asked for, or on every combination."""
