"""One schema over files of many, and how each file gives its columns. Pure."""
