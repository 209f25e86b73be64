"""Tables that a desk holds: taking them in, whose account pays, what is public of their rows, what may be found out."""
