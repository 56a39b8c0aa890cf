"""The only caller of a store: validation, version pin, retry, resume, limits, deadlines."""
