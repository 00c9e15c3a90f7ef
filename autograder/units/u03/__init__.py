"""Unit 3, fusion."""
