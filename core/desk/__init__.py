"""The door for dashboard and notebooks; it joins all rooms, and only the package itself imports it."""
