"""Unit 18, the benchmark: what its exercises ask for and how answers are judged."""
