"""Unit 1, graphs as IR."""
