"""What the benchmark `promise` compares: tables of very different kinds, and what is asked of them."""
