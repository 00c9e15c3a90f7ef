"""The lab of unit 18: a benchmark of one's own, what it supports, and which compiler for what."""
