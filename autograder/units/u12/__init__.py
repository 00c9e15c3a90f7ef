"""Unit 12, Systolic arrays."""
