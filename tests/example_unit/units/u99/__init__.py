"""Unit 99, an example."""
