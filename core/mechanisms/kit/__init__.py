"""What a mechanism is, and the steps that several families share."""
