"""What the file says of its values, and what follows for a filter."""
