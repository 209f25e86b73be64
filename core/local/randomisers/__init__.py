"""One file per local randomiser: its law, exactly, and how it is drawn. It imports base, models/fitting and privacy."""
