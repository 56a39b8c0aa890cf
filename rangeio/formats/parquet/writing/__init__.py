"""What the writer is made of."""
