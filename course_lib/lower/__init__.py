"""Graph -> loops, in textbook order: each node or fused group becomes a kernel.

lower.py      a whole graph
lowering.py   one op, or a fused group that stores one result
rows.py       several reductions, a whole row at a time
"""
