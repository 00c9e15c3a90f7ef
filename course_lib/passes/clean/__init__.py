"""Passes that leave less work and the same structure.

    mul(%x, 1.0), neg(neg(%x)), add(2.0, 3.0)   ->   %x, %x, 5.0

Next room: `dce.py`.
"""
