"""Public conformance suites and fault-injecting parts. Imported by nothing in rangeio."""
