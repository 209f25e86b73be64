"""One exact choice among small databases, or among a public net of them."""
