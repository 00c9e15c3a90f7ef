"""Unit 16, XLA, IREE, TVM, Triton."""
