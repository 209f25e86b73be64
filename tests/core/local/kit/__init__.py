"""The questionnaire, in Python and in a real Chromium."""
