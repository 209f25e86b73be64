"""Covers of edges and of elements, published as orders. It imports rooms up to mechanisms."""
