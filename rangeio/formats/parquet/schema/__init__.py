"""The schema as Arrow sees it, and small footers cut out of the large one."""
