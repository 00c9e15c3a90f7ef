"""Graph -> loops, in textbook order: each node or fused group becomes a kernel.

lower.py   one op, or a fused group that stores one result     rows.py   a whole row at a time
"""
