"""Files that DuckDB does not read by itself: workbooks, SQLite databases, files of Stata and SPSS."""
