"""Unit 0, the tour."""
