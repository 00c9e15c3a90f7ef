"""Checks: how they are written, run and shown. Students have this room."""
