"""Hostile files, on their way in and out."""
