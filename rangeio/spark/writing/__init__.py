"""Writes of Spark: each task its files, all of them visible together."""
