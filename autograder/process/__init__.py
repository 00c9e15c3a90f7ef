"""Processes that may be hostile: how one is started, limited, watched and ended."""
