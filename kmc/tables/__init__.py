"""Explored states as tables: rows of words to columns with types, in Parquet files, and queries of them."""
