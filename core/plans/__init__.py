"""What a release is to be, as an object and as a file, and how it is run once. It imports rooms up to ledger."""
