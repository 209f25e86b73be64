"""Attacks on invented tables."""
