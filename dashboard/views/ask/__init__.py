"""The page Ask: sessions, questions, answers."""
