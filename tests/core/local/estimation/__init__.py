"""Estimates from reports."""
