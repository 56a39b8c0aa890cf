"""Single pages: where they lie, and files made of chosen ones."""
