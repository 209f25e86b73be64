"""What the pages show, one folder per page."""
