"""A read of Spark: listed, planned, divided, and carried out in its workers."""
