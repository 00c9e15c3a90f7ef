"""Loops -> better loops.

    primitives.py  split, reorder, unroll, vectorize, parallelize, pack: one loop nest to another
    choose.py      which primitives to apply to which kernel on which machine
    schedule.py    a whole program

No room needs to know a target: what a schedule must know of the chip is in `cost/machine.py`.
"""
