"""Loops -> better loops.

    primitives.py  split, reorder, unroll, vectorize, parallelize, pack: one loop nest to another
    candidates.py  the tiles that a kernel could have
    choose.py      the cheapest of them, for which machine
    schedule.py    a whole program

No room needs to know a target: what a schedule must know of the chip is in `cost/machine.py`.
"""
