"""The FlatBuffer footer: a proposal for Parquet that was not adopted, read as a shortcut."""
