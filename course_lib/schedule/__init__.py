"""Loops -> better loops.

    primitives/    split, interchange, fission, vectorize, ...: one nest to another, a file each
    candidates.py  the tiles that a kernel could have
    choose.py      the cheapest of them, for which machine
    schedule.py    a whole program

No room needs to know a target: what a schedule must know of the chip is in `cost/machine.py`.
"""
