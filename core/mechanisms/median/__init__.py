"""Sessions that answer by the median of all tables that fit the answers so far."""
