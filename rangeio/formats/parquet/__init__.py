"""Parquet: the columns asked for, whatever the footer holds."""
