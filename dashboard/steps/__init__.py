"""One short file per page, in the order of a curator's work."""
