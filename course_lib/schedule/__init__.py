"""How it is computed: graph -> loops, and loops -> better loops.

    lower.py       each node or fused group becomes a kernel, loops in textbook order
    primitives.py  split, reorder, unroll, vectorize, parallelize, pack: one loop nest to another
    choose.py      which primitives to apply to which kernel on which machine
    memory.py      where each buffer lives, and which ones share an address

No room above needs to know a target: what a schedule must know of the chip is in `machine.py`.
"""
