"""Worlds larger than memory: edges and scores in Parquet files, one per range of states."""
