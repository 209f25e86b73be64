"""A mutation run over the trusted files: every small mistake in them should make a test fail."""
