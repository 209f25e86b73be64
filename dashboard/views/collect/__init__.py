"""The page Collect: the local model, from a public schema to estimates. No private table is opened here."""
