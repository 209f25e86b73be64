"""The questionnaire that people open on their own device: one file that asks, randomises and shows what is sent."""
