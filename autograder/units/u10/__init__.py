"""Unit 10, MLIR: what its exercises are, and how they are checked."""
