"""How the project is built: floors, names, and that nothing is forgotten."""
