"""Passes that choose how images lie in memory, and remove the copies that this costs."""
