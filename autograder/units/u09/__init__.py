"""Unit 9, BEAM: what its exercises ask for and how answers are judged."""
