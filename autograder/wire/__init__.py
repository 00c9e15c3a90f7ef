"""Plain data between two processes. Both ends have this room."""
