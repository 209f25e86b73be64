"""Errors before spending, by trials on public stand-ins with noise of the same laws. It imports what planning may."""
