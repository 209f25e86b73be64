"""Tables whose rows stay on an Apache Spark cluster; only counts come to the desk. Spark is imported when used."""
