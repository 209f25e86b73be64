"""The files of the ZIP beside records and tables: each is written from the plan, the schema and what is released."""
