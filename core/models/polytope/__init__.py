"""The tables that fit a session's answers, as a body in space and a random walk inside it."""
