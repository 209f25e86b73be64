"""Choices among small databases."""
