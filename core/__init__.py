"""Release Desk's engine: private tables in, differentially private releases out."""
