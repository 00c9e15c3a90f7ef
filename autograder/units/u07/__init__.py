"""Unit 7, Tiling: what its exercises ask for and how answers are judged."""
