"""Unit 13, A custom backend."""
