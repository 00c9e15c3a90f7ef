"""Unit 6, Code generation."""
