"""Passes that choose how convolutions are computed and how images lie in memory, and
remove the copies that this costs."""
