"""Budgets that somebody wants to spend twice."""
