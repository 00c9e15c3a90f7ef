"""Unit 8, Dependence and the polyhedral model: what its exercises are, and how they are checked."""
