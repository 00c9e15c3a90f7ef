"""Visible checks of unit 9: a tree that catches a narrow beam. Next room: beams.py."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

from autograder.check.answer import Answer
from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from course_lib import exercises
from course_lib.schedule.search.beam import beam_search

TRAP = ("Make a tree that catches a beam of this width but not one that is wider by 1",
        "(tree, prices): the successors of each state that has any, and the price of each state",
        'States are strings, and the search begins at "start"',
        "There are at most 100 states, and all prices are positive and finite",
        "For every depth up to 8, the beam of this width returns a state that costs at least twice",
        "With depth 8, a beam that is wider by 1 finds the cheapest",
        "from 1 to 30",
        "Every other state is the successor of exactly one state, and there is a way")  # fmt: skip
MOST, DEEPEST = 100, 8


def tree_of(trap: Any, width: int) -> tuple[dict[str, list[str]], dict[str, float]]:
    """The answer's tree and prices; Wrong if they are not a tree with prices."""
    answer, call = trap(width), f"trap({width})"
    wrong = partial(Wrong, program=call)
    pair = isinstance(answer, (tuple, list)) and len(answer) == 2
    if not pair or not all(isinstance(part, Mapping) for part in answer):
        raise wrong("The answer must be a pair of dicts.", got=returned(answer), spec=TRAP[1])
    tree, prices = {state: list(after) for state, after in answer[0].items()}, answer[1]
    states = {"start", *tree, *itertools.chain.from_iterable(tree.values())}
    if not all(isinstance(state, str) for state in states):
        raise wrong("States must be strings.", got=returned(tree), spec=TRAP[2])
    if len(states) > MOST:
        raise wrong("There are too many states.", got=f"{len(states)} states", spec=TRAP[3])
    _is_a_tree(tree, {*states, *(state for state in prices if isinstance(state, str))}, call)
    for state in sorted(states):
        if state not in prices:
            raise wrong(f"The state {state!r} has no price.", got=", ".join(map(repr, prices)),
                        spec=TRAP[1])  # fmt: skip
        if not isinstance(prices[state], Real) or not 0 < float(prices[state]) < math.inf:
            raise wrong(f"The price of {state!r} is not a positive, finite number.",
                        got=repr(prices[state]), spec=TRAP[3])  # fmt: skip
    return tree, {state: float(prices[state]) for state in states}


def _is_a_tree(tree: Mapping[str, Sequence[str]], states: Iterable[str], call: str) -> None:
    """There is one way from the start to each state, and none back to it."""
    parents = Counter(itertools.chain.from_iterable(tree.values()))
    reached = ["start"]
    for state in reached:
        reached += tree.get(state, []) if len(reached) <= MOST + 1 else []
    for state in sorted(states):
        count = parents[state]
        once = count == int(state != "start")
        if once and state in reached:
            continue
        of = f"of {count} states" if count != 1 else "of a state"
        end = ", and no way leads to it from the start." if once else "."
        raise Wrong(f"{state!r} is the successor {of}{end}", program=call, got=shown(tree, {}),
                    spec=TRAP[7])  # fmt: skip


def shown(tree: Mapping[Any, Any], prices: Mapping[Any, float]) -> str:
    """A line for each state that has successors, with the prices of all."""

    def priced(state: Any) -> str:
        return f"{state} ({prices[state]:g})" if state in prices else str(state)

    lines = [f"{priced(s)} -> {', '.join(map(priced, after)) or 'nothing'}"
             for s, after in tree.items()]  # fmt: skip
    return "\n".join(lines[:30]) or "no state has successors"


def catches(trap: Any, width: int) -> None:
    """The narrow beam is caught, and the wider one is not; Wrong if not so."""
    tree, prices = tree_of(trap, width)
    least, wrong = min(prices.values()), partial(Wrong, program=shown(tree, prices))

    def cheapest(wide: int, depth: int) -> tuple[float, str]:
        got = beam_search("start", lambda s: tree.get(s, []), prices.__getitem__, wide, depth)
        return prices[got], f"{got!r}, which costs {prices[got]:g}"

    with exercises.using(Answer.of(trap).plugs):
        for depth in range(1, DEEPEST + 1):
            cost, got = cheapest(width, depth)
            if cost < 2 * least:
                raise wrong(
                    f"A beam of width {width} finds a state that is too cheap (depth {depth}).",
                    got=got, expected=f"{2 * least:g} or more", spec=TRAP[4],
                )  # fmt: skip
        cost, got = cheapest(width + 1, DEEPEST)
    if cost > least:
        raise wrong(f"A beam of width {width + 1} does not find the cheapest state.", got=got,
                    expected=f"{least:g}", spec=TRAP[5])  # fmt: skip


@checks("u09.trap", spec=TRAP)
def it_catches_the_narrow_beam(trap):
    """Widths 1, 2, 3, 6 and 30."""
    for width in (1, 2, 3, 6, 30):
        catches(trap, width)
    return "widths 1, 2, 3, 6 and 30"
