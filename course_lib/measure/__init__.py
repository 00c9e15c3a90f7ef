"""Timing that one can trust: benchmarks, `tune`, the commands and the units measure with this.

    turns.py   calls that take turns, by a clock that is named
    duel.py    is one faster, or was that noise?
    claim.py   how many times as fast, and may one say so?
    apart.py   a process that answers requests and may crash or hang

*Warm*: a call has run once before it is timed. *In turns*: a round times every call, one after the
other, so that what disturbs the machine for a while disturbs all of them, and only their ratios
are of use elsewhere. *Reported* is one number for each call: the median of its rounds, if the
question is how long it takes here; the least, if it is how fast it can be, for what disturbs a
run only makes it longer. Next room: `turns.py`.
"""
