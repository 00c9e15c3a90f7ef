"""Unit 14, Plug into real compilers: what its exercises are, and how they are checked."""
