"""Sessions that answer from a public hypothesis and learn where it is wrong (PMW and its relatives)."""
