"""How noise is taken out of single columns before anything is fitted."""
