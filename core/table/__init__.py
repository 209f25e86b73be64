"""Private rows in, integer counts out: sources, encoded columns, views, stand-ins. It imports rooms up to privacy."""
