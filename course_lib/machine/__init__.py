"""A small processor and the compiler for it: which instruction, which register, in which order.

Next room: `core.py`.
"""
