"""Schedules that are measured: a whole model is tuned for the machine at hand.

    measure.py   how long kernels take, in processes that may crash
    child.py     such a process: compile, run, report
    farm.py      the same on other machines, with Dask
    shares.py    which kernel has how much of a model's time
    groups.py    which nodes share a kernel: other groups, searched by the cost model
    whole.py     whole models in turns: do the parts gain there?
    tune.py      a model: which kernel gets how much of the time, and what is kept

Clocks, turns and duels are those of `course_lib/measure`. What comes out is a value, `Tuned`
(`course_lib/schedule/search/tuned.py`).
"""
