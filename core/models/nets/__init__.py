"""Public nets of small databases: how they are made, what their members answer, and sets and mixtures of them."""
