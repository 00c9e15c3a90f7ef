"""Visible checks of machine.list_schedule: every wait is kept, and the last starts early.

`ratio` and `worth` judge an answer, here and in the hidden checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import returned
from autograder.units.u06.checks.cover import listed
from course_lib.machine.depends import bound, cycles_of, starts
from lessons.u06.programs import layered_needs, random_needs

SEEDS = st.integers(0, 9999)

ORDER = ("returns  the numbers of the instructions in the order in which they are to start",
         "Where needs[n] names m, m must stand before n", "m is smaller than n",
         "The list may be empty")  # fmt: skip
SOON = ("so that the last of them starts as early as possible", "how many instructions may start "
        "in one cycle, at least 1", "List scheduling goes cycle by cycle",
        "In each, of the instructions that may start", "needs[n] is {m: cycles}")  # fmt: skip
GOOD = 1.01  # mean of cycles / bound from which an answer earns all points
RANDOM = [(random_needs(500 + k), 1 + k % 3) for k in range(27)]
RANDOM += [(layered_needs(k), 1) for k in range(3)]
# Small programs for one instruction in a cycle, and the fewest cycles they take.
SMALLEST: list[tuple[list[dict[int, int]], int]] = [
    ([{}, {}, {1: 4}, {0: 1}], 5),
    ([{}, {}, {0: 4, 1: 1}, {1: 1}], 5),
]

background(
    "machine.list_schedule",
    "The processor starts them in that order ... stands earlier in the list",
    because="how the cycles are counted",
)
background("machine.list_schedule", "This is not always ... is NP-hard", because="about the rule")


def legal(list_schedule: Any, needs: list[dict[int, int]], width: int) -> list[int]:
    """The answer's order; Wrong if it is no order, or breaks a wait."""
    order = listed(list_schedule(needs, width))
    text = "\n".join(f"{n}: waits {wait or 'for nothing'}" for n, wait in enumerate(needs[:24]))
    text = f"width {width}\n{text}" + (f"\nand {len(needs) - 24} more" if len(needs) > 24 else "")
    if not isinstance(order, list):
        answer = returned(order)
        raise Wrong(
            "The answer must be a list of numbers.", program=text, got=answer, spec=ORDER[0]
        )
    once(order, len(needs), text)
    try:
        starts(order, needs, width)
    except ValueError as error:
        raise Wrong(f"The order cannot run: {error}.", program=text, got=repr(order)[:300],
                    spec=ORDER[1]) from None  # fmt: skip
    return order


def once(order: list[Any], count: int, text: str) -> None:
    """Wrong unless the list holds the number of each instruction once."""
    strange = [n for n in order if not hasattr(n, "__index__") or not 0 <= n < count]
    named = Counter(map(int, order) if not strange else [])
    if strange:
        number = repr(strange[0])[:60]
        problem = f"{number} is no instruction: there are {count}, numbered from 0"
    elif twice := [n for n, times in named.items() if times > 1]:
        problem = f"Instruction {twice[0]} is named twice"
    elif missing := [n for n in range(count) if n not in named]:
        problem = f"Instruction {missing[0]} is missing"
    else:
        return
    raise Wrong(f"{problem}. The list must name each once.", program=text, got=repr(order)[:300],
                spec=ORDER[0])  # fmt: skip


def ratio(list_schedule: Any, needs: list[dict[int, int]], width: int) -> float:
    return cycles_of(legal(list_schedule, needs, width), needs, width) / bound(needs, width)


def worth(ratios: Sequence[float]) -> tuple[float, float]:
    """The mean of cycles / bound, and the part of the points that it earns."""
    mean = sum(ratios) / len(ratios)
    return mean, min(1.0, max(0.25, 1.0 - 10 * (mean - GOOD)))


@checks("machine.list_schedule", spec=ORDER)
def small_programs_run(list_schedule):
    """No instruction, one, two that start together, and one that must wait for neither."""
    small = [[], [{}], [{}, {0: 0}], [{}, {0: 4}, {}], [{}, {}, {0: 4, 1: 0}, {2: 1}],
             [{}, {0: 3000}, {1: 0}, {2: 3000}], [{}, {0: 0}, {0: 0, 1: 0}, {2: 0, 1: 0}],
             [{k - 40: 2} if k >= 40 else {} for k in range(160)]]  # fmt: skip
    for needs in small:
        for width in (1, 2, 5, 100):
            legal(list_schedule, needs, width)
    return f"{len(small)} small programs"


@checks("machine.list_schedule", given=SEEDS, examples=40, what="random programs", spec=ORDER)
def every_wait_is_kept(list_schedule, seed):
    """Each instruction once, and none before one that it waits for."""
    legal(list_schedule, random_needs(seed, 30), 1 + seed % 3)


@checks("machine.list_schedule", spec=[*ORDER, *SOON])
def the_last_starts_early(list_schedule):
    """The cycles are near a bound that no order can beat."""
    mean, fraction = worth([ratio(list_schedule, *drawn) for drawn in RANDOM])
    words = f"cycles / bound: {mean:.3f} on average over {len(RANDOM)} programs; "
    words += f"all points from {GOOD}, program order has 1.92"
    for needs, fewest in SMALLEST:
        cycles = cycles_of(legal(list_schedule, needs, 1), needs, 1)
        if fraction < 1 and cycles > fewest:
            return Score(fraction, f"{words}. list_schedule({needs}, 1) gives {cycles} cycles, and "
                                   f"{fewest} are possible")  # fmt: skip
    return Score(fraction, words)
