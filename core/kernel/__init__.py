"""The trusted measuring kernel, the only place where private counts meet noise. It imports rooms up to table."""
