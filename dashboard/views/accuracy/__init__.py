"""The page Accuracy, for the curator's eyes only."""
