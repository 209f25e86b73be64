"""What the tests of privacy are made of: cases, neighbours, recorders, replays, exact and statistical checks."""
