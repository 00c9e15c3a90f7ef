"""A small lab beside unit 99, an example."""
