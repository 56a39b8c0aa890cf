"""Many files read as one table."""
