"""Where to open sites: k-median and facility location, and the places that people come from."""
