"""Unit 17: tinygrad from the inside."""
