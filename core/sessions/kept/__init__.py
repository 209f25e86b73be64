"""What sessions leave behind: their tables, states and replies. It imports ledger and what a session is asked."""
