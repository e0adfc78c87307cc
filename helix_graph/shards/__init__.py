"""Facts of many episodes as Parquet shards, and their sums by DuckDB or Spark: the same that a compile has."""
