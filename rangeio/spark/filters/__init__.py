"""What Spark and users ask of rows, in the words of rangeio."""
