"""Passes that put several operations into one kernel: what may be fused, what pays, and how."""
