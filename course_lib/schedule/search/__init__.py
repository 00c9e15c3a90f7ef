"""Many schedules are tried, and the best one is kept.

    problem.py   a kernel to schedule; a candidate; the record of a search
    moves.py     what one decision may add to a schedule
    space.py     how many schedules there are
    search.py    what every search does: prices, budget, duplicates, the best so far
    beam.py      the best few of each generation go on; `greedy`, the best one
    sample.py    random schedules
    evolve.py    mutation and crossover
    tuned.py     what was found for the kernels of a model, as a text

Every search takes a price, such as `predict` of `cost/nest.py`, and needs no machine code. A
function that measures may be handed to it as well (`course_lib/tune/measure.py`).
"""
