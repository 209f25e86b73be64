"""Who gets in, and what strangers may send."""
