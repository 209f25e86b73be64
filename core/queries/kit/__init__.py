"""What classes of questions are made of."""
