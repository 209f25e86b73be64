"""What is proven about private decisions: bounds, and the table of them."""
