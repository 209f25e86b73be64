"""The page Plan: classes, mechanisms, errors, rehearsals."""
