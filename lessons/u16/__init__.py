"""Unit 16, XLA, IREE, TVM, Triton: what the notebook shows."""
