"""Lance 2.0, 2.1 and 2.2 data files."""
