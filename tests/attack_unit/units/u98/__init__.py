"""Unit 98: seven exercises for seven attacks in one notebook, and an honest answer after them."""
