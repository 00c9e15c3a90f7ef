"""Unit 2, rewrites."""
