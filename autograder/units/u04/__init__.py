"""Unit 4, memory and layout."""
