"""How rows are read from each kind of source: DuckDB (most SQL over rows), Arrow, workbooks, SQLite, Stata and SPSS;
`postgres` reads tables of a PostgreSQL database."""
