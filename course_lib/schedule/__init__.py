"""Loops -> better loops.

    primitives/    split, interchange, fission, vectorize, ...: one nest to another, a file each
    legality.py    may the iterations run in another order? yes, or two that may not
    steps.py       the primitives as values
    script.py      a schedule: a list of steps that can be printed, read back and applied
    reduction.py   what a kernel combines, and in which loops
    candidates.py  the tiles that it could have
    price.py       what each of them costs
    product.py     a large matrix product in blocks for the caches
    choose.py      the cheapest of them, for which machine
    schedule.py    a whole program
    search/        more than the cheapest tile: many schedules tried, the best one kept

No room needs to know a target: what a schedule must know of the chip is in `cost/machine.py`.
"""
