"""The trusted measuring kernel: the only place where private counts meet noise. It uses schema, privacy, table."""
