"""Unit 9, BEAM: the exercises that are no function of the library.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u09/landscapes.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u09.space", unit=9, points=2, kind="number", further=True)
def space(extents: Sequence[int], levels: int) -> int:
    """How many ways are there to tile these loops?

    extents  how often each loop runs, 1 to 2,000
    levels   how many nested loops each of them is split into, 1 to 6
    returns  the exact number of ways for all loops together

    When a loop is split, the extents of its parts multiply to its own extent. Parts may have
    extent 1, and their order counts: 12 = 3 · 4 and 12 = 4 · 3 are two ways. Each loop is split
    independently of the others. There are too many combinations of numbers to try them all.
    """
    ways = 1
    for extent in extents:
        left = {extent: 1}  # what is left to split, and how many ways lead there
        for _ in range(levels - 1):
            after: dict[int, int] = {}
            for n, count in left.items():
                for part in (d for d in range(1, n + 1) if n % d == 0):
                    after[part] = after.get(part, 0) + count
            left = after
        ways *= sum(left.values())
    return ways


@exercise("u09.trap", unit=9, points=2, kind="inverse", uses=("schedule.beam_search",))
def trap(width: int) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Make a tree that catches a beam of this width but not one that is wider by 1.

    width    from 1 to 30
    returns  (tree, prices): the successors of each state that has any, and the price of each state

    States are strings, and the search begins at "start". Every other state is the successor of
    exactly one state, and there is a way from "start" to it. There are at most 100 states, and all
    prices are positive and finite. For every depth up to 8, the beam of this width returns a state
    that costs at least twice as much as the cheapest one. With depth 8, a beam that is wider by 1
    finds the cheapest.
    """
    decoys = [f"decoy {n}" for n in range(width)]
    tree = {"start": [*decoys, "detour"], "detour": ["best"]}
    return tree, {"start": 9.0, **dict.fromkeys(decoys, 4.0), "detour": 5.0, "best": 1.0}


@exercise("u09.enough", unit=9, points=2, kind="number")
def enough(predicted: Sequence[float], measured: Sequence[float], within: float) -> int:
    """How many schedules must be measured if the model chooses them?

    predicted  seconds by the cost model, one number for each schedule
    measured   seconds by the clock, in the same order
    within     a fraction such as 0.05
    returns    exactly the smallest number that is enough

    The schedules are measured in the order of their predicted times; equal ones keep the order of
    the list. A number is enough if the fastest schedule measured takes at most 1 + `within` times
    as long as the fastest of all.
    """
    order = sorted(range(len(predicted)), key=lambda n: predicted[n])
    least = list(itertools.accumulate((measured[n] for n in order), min))
    return 1 + next(k for k, s in enumerate(least) if s <= (1 + within) * min(measured))


@exercise("u09.search", unit=9, points=4, kind="budget")
def search(
    successors: Callable[[tuple[str, ...]], Sequence[tuple[str, ...]]],
    price: Callable[[tuple[str, ...]], float],
    budget: int,
) -> tuple[str, ...]:
    """Find a cheap schedule of a layer by pricing only a few.

    successors  lists the schedules with one more decision; it may be called as often as you like
    price       clocks by the cost model; it may be called at most `budget` times
    budget      at least 1; 16, 5 and 1 are tried
    returns     a schedule that you have priced

    A schedule is a tuple of decisions. Each is a string that begins with its kind, such as
    "inner: unroll(k1)", and () is the schedule without any. Only () and what `successors` lists are
    schedules. Both functions return the same for the same schedule every time. Your score is the
    clocks of your schedule, divided by those of the cheapest one known, averaged over several
    layers, with a budget of 16.
    """
    tiles = [state for state in successors(()) if state[-1].startswith("tile")]
    costs = {state: price(state) for state in tiles[: (3 * budget + 3) // 4]}
    for tile in sorted(costs, key=lambda state: costs[state]):
        for one in successors(tile):
            for two in successors(one) if one[-1].startswith("inner: unroll") else ():
                if two[-1].startswith("inner: unroll") and len(costs) < budget:
                    costs[two] = price(two)
    return min(costs, key=lambda state: costs[state])


@exercise("u09.model_or_clock", unit=9, points=2, kind="explain")
def model_or_clock() -> Rubric:
    """By the cost model, your search has made a layer 1.3 times as fast. By the clock, it takes
    3 % longer than before. Name two different reasons why this can happen; at least one of them
    must be a property of the model. For each, say what you would look at to find out whether it
    applies. How should a compiler that searches decide which schedule to ship? Write three to six
    sentences.
    """
    return Rubric(
        criteria="1 point for two different reasons, each with a way to tell: half a point each. "
        "About the model: it counts something that LLVM or the processor does differently "
        "(unrolling, spilled registers, prefetching, cache conflicts, a bottleneck other than the "
        "one that it assumes), or the search picked out just those schedules that the model "
        "prices too low (look at assembly, counters, the scatter plot of this layer). About the "
        "clock: noise, another process, a cold cache, a changing clock rate (measure again, in "
        "turns with the default; 3 % may be nothing). A reason without a way to tell earns a "
        "quarter. 1 point for the decision: the model proposes a few schedules, they are measured "
        "many times in turns with the default, and the new one is shipped only if it is faster by "
        "more than the noise; otherwise the default stays. Half a point for measuring without a "
        "word on noise or the default.",
        samples=(
            Sample(2, "The model does not know how LLVM allocates registers: the schedule may "
                   "spill, and I would look for stores to the stack in its assembly. Or the 3 % "
                   "are noise, because another process was running; I would measure both in turns "
                   "thirty times and compare the spread with the difference. The compiler should "
                   "measure the few cheapest by the model that way, beside the default, and keep "
                   "the default unless something is faster by more than the spread."),
            Sample(1, "The cost model is only a formula: for example, its caches have no sets, "
                   "which a simulation of the cache would show. One should measure the best "
                   "candidates and take the fastest."),
            Sample(0, "The beam was too narrow. With a larger width the search would have found a "
                   "schedule that is really faster."),
        ),
    )  # fmt: skip
