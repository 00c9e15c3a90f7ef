"""The rows of the op table, one file for each kind of op. Read `elementwise.py` first."""
