"""How query classes are released or asked, one folder per family. It imports rooms up to theory, and no noise."""
