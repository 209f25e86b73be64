"""How rows are read from each kind of source: DuckDB (most SQL over rows), Arrow, workbooks, SQLite, Stata and SPSS;
`databases` reads tables of PostgreSQL, MariaDB and MySQL servers."""
