"""Reports and records about a release for people and catalogues, from what is public. It imports what release may."""
