"""Segments as they are written: columns to pages to one file."""
