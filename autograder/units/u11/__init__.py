"""Unit 11, an NPU dialect: what its exercises are, and how they are checked."""
