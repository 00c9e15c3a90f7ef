"""The order of the instructions: fill the cycles in which the processor would wait.

    ld    f0, x[0]                     ld    f0, x[0]
    (3 cycles: nothing starts)         ld    f1, x[8]         the second load starts while the
    mul   f0, f0, f0           ==>     (3 cycles)             first is on its way
    ld    f1, x[8]                     mul   f0, f0, f0
    ...                                mul   f1, f1, f1

Source: Landskov and others, "Local Microcode Compaction Techniques", ACM Computing Surveys 1980.
Next room: `simulate.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.exercises import exercise


def as_given(needs: Sequence[dict[int, int]], width: int) -> list[int]:
    """The baseline: the order of the program."""
    return list(range(len(needs)))


@exercise("machine.list_schedule", unit=6, points=4, kind="budget", baseline=as_given)
def list_schedule(needs: Sequence[dict[int, int]], width: int) -> list[int]:
    """Order instructions so that the last of them starts as early as possible.

    needs    needs[n] is {m: cycles}: n may start no sooner than that many cycles after m; m is
             smaller than n, and cycles may be 0. The list may be empty
    width    how many instructions may start in one cycle, at least 1
    returns  the numbers of the instructions in the order in which they are to start

    The processor starts them in that order, each as soon as it may, and never before one that
    stands earlier in the list. Where needs[n] names m, m must stand before n.

    List scheduling goes cycle by cycle. In each, of the instructions that may start, it starts
    those with the longest chains of waits behind them, in cycles. This is not always the best
    order: finding that is NP-hard.

    >>> list_schedule([{}, {0: 4}, {}, {2: 4}], 1)
    [0, 2, 1, 3]
    """
    readers: list[dict[int, int]] = [{} for _ in needs]
    for n, wait in enumerate(needs):
        for m, cycles in wait.items():
            readers[m][n] = cycles
    chain = [0] * len(needs)
    for n in reversed(range(len(needs))):
        chain[n] = max((cycles + chain[r] for r, cycles in readers[n].items()), default=0)
    missing, earliest = [len(wait) for wait in needs], [0] * len(needs)
    ready = [n for n in range(len(needs)) if not missing[n]]
    order: list[int] = []
    cycle = 0
    while ready:
        for _ in range(width):
            able = [n for n in ready if earliest[n] <= cycle]
            if not able:
                break
            chosen = max(able, key=lambda n: (chain[n], -n))
            ready.remove(chosen)
            order.append(chosen)
            for reader, cycles in readers[chosen].items():
                earliest[reader] = max(earliest[reader], cycle + cycles)
                missing[reader] -= 1
                if not missing[reader]:
                    ready.append(reader)
        cycle += 1
    return order
