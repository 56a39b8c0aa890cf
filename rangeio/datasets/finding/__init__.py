"""From what a user names to the files of a dataset, and what their paths tell."""
