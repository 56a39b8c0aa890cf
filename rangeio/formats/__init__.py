"""One folder a format, found by name and sniffed by its magic."""
