"""How rows are read from each kind of source: DuckDB (all SQL over rows), Arrow, workbooks, SQLite, Stata and SPSS."""
