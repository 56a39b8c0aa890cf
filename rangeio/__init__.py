"""rangeio reads N columns of a C-column file on object storage and pays for N."""

__version__ = "0.1.0"
