"""Rows on one side of planes: fitted records, and the paper's random projections."""
