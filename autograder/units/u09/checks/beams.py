"""Visible checks of unit 9 for beam search: what it asks for is written down, and then judged.

Nothing here searches. From the calls of `successors` and `price`, in their order, it follows which
states went on in which round; the text says what must be true of them. Next room: ../hidden.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.units.u09.checks import Rules, shown

WHAT = "return the cheapest state that it prices, the first of equally cheap ones"
START = "The start is priced, and goes on whatever it costs"
ASKED = ("`successors` is called for all states that go on, the cheapest first",
         "lists the states that are one decision further on", "the first state")  # fmt: skip
ONCE = ("A state seen before, in this round or earlier, is left out",
        "so that no state is priced twice",
        "states can be compared with `==` and kept in a set")  # fmt: skip
WIDE = ("Of the new ones, the `width` cheapest go on", "how many states go on after a round")
FIRST = "of equally cheap ones, those found first"
NEVER = ("Any other state of infinite price never goes on", "a number, which may be infinite")
OVER = ("When no state goes on, the search is over", "how many rounds there are at most")
ALL = (WHAT, START, *ASKED, *ONCE, *WIDE, FIRST, *NEVER, *OVER)

Tree = dict[int, list[int]]


@dataclass(frozen=True)
class Land:
    """A tree whose states are numbers, the start is 0, and what a search in it is given."""

    tree: Tree
    prices: dict[int, float]
    width: int
    depth: int

    def __str__(self) -> str:
        head = f"width {self.width}, depth {self.depth}; the start is 0 ({self.prices[0]:g})"
        return f"{head}\n{shown(self.tree, self.prices)}"


@dataclass
class Trace:
    """What a search asked for, in order."""

    priced: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    rules: Rules = field(default_factory=Rules)
    round_of: dict[int, int] = field(default_factory=lambda: {0: 0})
    found: dict[int, list[int]] = field(default_factory=lambda: {0: [0]})  # by round


@st.composite
def lands(draw: DrawFn, most: int = 9) -> Land:
    """Few prices, so that there are equal ones, and states with several parents."""
    count = draw(st.integers(1, most))
    tree: Tree = {}
    for state in range(1, count):
        for parent in draw(st.lists(st.integers(0, state - 1), min_size=1, max_size=2)):
            tree.setdefault(parent, []).append(state)
    cost = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, math.inf])
    prices = {state: draw(cost) for state in range(count)}
    return Land(tree, prices, draw(st.integers(1, 3)), draw(st.integers(0, 5)))


def traced(beam_search: Any, land: Land) -> tuple[Any, Trace]:
    """Run the answer; Wrong as soon as it asks for what it must not ask for."""
    trace = Trace()

    def successors(state: Any) -> list[int]:
        _known(state, trace, land)
        if state in trace.asked:
            trace.rules.break_with(Wrong(f"`successors` is called twice for state {state}.",
                                         program=str(land), spec=ONCE[0]))  # fmt: skip
        trace.asked.append(state)
        number = trace.round_of[state] + 1
        for new in land.tree.get(state, []):
            if new not in trace.round_of:
                trace.round_of[new] = number
                trace.found.setdefault(number, []).append(new)
        return list(land.tree.get(state, []))

    def price(state: Any) -> float:
        _known(state, trace, land)
        if state in trace.priced:
            trace.rules.break_with(
                Wrong(f"State {state} is priced twice.", program=str(land), spec=ONCE[1])
            )
        trace.priced.append(state)
        return land.prices[state]

    call = f"beam_search(0, successors, price, {land.width}, {land.depth})"
    with trace.rules.count(f"{call}\n{land}"):
        return beam_search(0, successors, price, land.width, land.depth), trace


def _known(state: Any, trace: Trace, land: Land) -> None:
    if not isinstance(state, int) or state not in trace.round_of:
        trace.rules.break_with(Wrong("Only the start and what `successors` has listed are states.",
                                     program=str(land), got=repr(state)[:200],
                                     spec=ASKED[1]))  # fmt: skip


def judged(beam_search: Any, land: Land) -> None:
    """All that the text says; Wrong names the first state for which it does not hold."""
    got, trace = traced(beam_search, land)
    for number in range(1, max([0, *trace.found]) + 1):
        _priced(trace, number, land)
    if 0 not in trace.priced:
        raise Wrong("The start must be priced.", program=str(land), spec=START)
    if trace.asked[:1] != [0] and land.depth:
        raise Wrong("The start must go on.", program=str(land), spec=START)
    for number in range(max(trace.found) + 1):
        _went_on(trace, number, land)
    _cheapest(got, trace, land)


def _priced(trace: Trace, number: int, land: Land) -> None:
    for state in trace.found.get(number, []):
        if state not in trace.priced:
            raise Wrong(f"State {state} is found but never priced.", program=str(land), spec=WHAT)


def _went_on(trace: Trace, number: int, land: Land) -> None:
    """Of the states of a round, the right ones were asked for their successors, in order."""
    on = [state for state in trace.asked if trace.round_of[state] == number]
    if number >= land.depth:
        if on:
            raise Wrong(f"State {on[0]} goes on after the last round, {number}.", program=str(land),
                        got=f"called for: {trace.asked}", spec=OVER[1])  # fmt: skip
        return
    there = trace.found[number]
    said: dict[str, Any] = {
        "program": str(land),
        "got": f"found in round {number}: {there}; went on: {on}",
    }
    for state in on:
        if land.prices[state] == math.inf and number:
            raise Wrong(f"State {state} has an infinite price and goes on.", **said, spec=NEVER[0])
    if len(on) > land.width:
        raise Wrong(f"{len(on)} states go on after round {number}.", **said, spec=WIDE[0])
    rank = {state: (land.prices[state], place) for place, state in enumerate(there)}
    stayed = [s for s in there if s not in on and (land.prices[s] < math.inf)]
    for state in stayed:
        if len(on) < land.width:
            raise Wrong(f"State {state} must go on: there is room for it.", **said, spec=WIDE[0])
        for other in on:
            if rank[state] < rank[other]:
                equal = rank[state][0] == rank[other][0]
                why = "was found first" if equal else "is cheaper"
                raise Wrong(f"State {state} must go on rather than {other}: it {why}.", **said,
                            spec=FIRST if equal else WIDE[0])  # fmt: skip
    if on != sorted(on, key=lambda state: rank[state]):
        raise Wrong("`successors` must be called for the cheapest first.", **said, spec=ASKED[0])


def _cheapest(got: Any, trace: Trace, land: Land) -> None:
    if not isinstance(got, int) or got not in trace.round_of:
        said = "nothing (is a `return` missing?)" if got is None else repr(got)[:200]
        raise Wrong("The answer must be a state that was priced.", program=str(land), got=said,
                    spec=WHAT)  # fmt: skip
    in_order = [state for number in sorted(trace.found) for state in trace.found[number]]
    best = min(in_order, key=lambda state: land.prices[state])
    if got != best:
        cheaper = land.prices[best] < land.prices[got]
        why = "cheaper" if cheaper else "as cheap, and was found first"
        raise Wrong(
            f"The answer must be state {best}: it is {why}.",
            program=str(land),
            got=f"{got}, which costs {land.prices[got]:g}",
            expected=f"{best}, which costs {land.prices[best]:g}",
            spec=WHAT,
        )


SMALL = [
    Land({0: [1, 2], 1: [3], 2: [4]}, {0: 9, 1: 4, 2: 5, 3: 4, 4: 1}, 2, 2),
    Land({0: [1], 1: [2]}, {0: 3, 1: 3, 2: 1}, 1, 2),  # a round that gains nothing
    Land({0: [1], 1: [2], 2: [3]}, {0: 3, 1: 1, 2: 2, 3: 2}, 1, 3),  # the last is not the best
    Land({0: [1, 2], 1: [3]}, {0: 3, 1: math.inf, 2: 2, 3: 1}, 2, 3),
    Land({0: [1], 1: [2]}, {0: math.inf, 1: 2, 2: 1}, 1, 2),  # a start that cannot be run
    Land({0: [1, 2], 1: [3, 4], 2: [5, 6], 3: [7], 4: [8], 5: [9], 6: [10]},  # one width for all
         {n: float(n) for n in range(11)}, 2, 3),
]  # fmt: skip


@checks("schedule.beam_search", spec=ALL)
def small_trees(beam_search):
    """Six small trees."""
    for land in SMALL:
        judged(beam_search, land)
    return "six small trees"


@checks("schedule.beam_search", given=lands(), examples=120, what="random trees", spec=ALL)
def the_right_states_go_on(beam_search, land):
    """In each round the right states go on, each is priced once, and the best of all comes out."""
    judged(beam_search, land)


@checks("schedule.beam_search", spec=[*ONCE, *OVER])
def a_search_without_an_end_to_find(beam_search):
    """A tree of 2**40 paths in which every second one meets again."""
    depth = 40
    tree = {n: [n + 1 + (n % 2), n + 2 + (n % 2)] for n in range(2 * depth)}
    prices = {n: float(1 + (7 * n) % 11) for n in range(2 * depth + 6)}
    judged(beam_search, Land(tree, prices, 4, depth))
