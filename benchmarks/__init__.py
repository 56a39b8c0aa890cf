"""rangeio and its peers on the same bytes, in one run."""
