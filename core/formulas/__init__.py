"""The language of questions: from text to a question and back. It imports rooms up to theory."""
