"""Visible checks of unit 9 for beam search: what it asks for is written down, and then judged.

Nothing here searches. From the calls of `successors` and `price`, in their order, it follows which
states went on in which round; the text says what must be true of them. Next room: ../hidden.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from autograder.units.u09.checks import Rules

WHAT = "return the cheapest state that it prices, the first of equally cheap ones"
START = "The start is priced, and goes on whatever it costs"
ASKED = ("`successors` is called for all states that go on, the cheapest first",
         "lists the states that are one decision further on", "the first state")  # fmt: skip
ONCE = ("A state seen before, in this round or earlier, is left out",
        "so that no state is priced twice",
        "states can be compared with `==` and kept in a set")  # fmt: skip
WIDE = ("Of the new ones, the `width` cheapest go on", "how many states go on after a round")
FIRST = "of equally cheap ones, those found first"
NEVER = (
    "Any other state of infinite price never goes on",
    "a number, or positive infinity if a state cannot be run",
)
OVER = ("When no state goes on, the search is over", "how many rounds there are at most")
ALL = (WHAT, START, *ASKED, *ONCE, *WIDE, FIRST, *NEVER, *OVER)

Tree = dict[int, list[int]]
KINDS: dict[str, Callable[[int], Any]] = {  # what the states of a tree are; all are truly unequal
    "numbers": lambda n: n,
    "numbers down from 0": lambda n: -n,
    "large numbers": lambda n: 10**12 - n,
    "strings": lambda n: f"s{n}" if n != 2 else "",
    "tuples": lambda n: (f"step {n % 3}", n) if n else (),
    "strings and numbers": lambda n: n if n % 2 else f"s{n}",
}


@dataclass(frozen=True)
class Land:
    """A tree, or a graph, of numbered states, the start is 0, and what a search in it is given.
    `kind` is what the search sees in the place of the numbers."""

    tree: Tree
    prices: Mapping[int, float]
    width: int
    depth: int
    kind: str = "numbers"

    def __str__(self) -> str:
        head = f"width {self.width}, depth {self.depth}; the start is {self.priced(0)}"
        lines = [f"{self.priced(n)} -> {', '.join(map(self.priced, after)) or 'nothing'}"
                 for n, after in self.tree.items()]  # fmt: skip
        return "\n".join([head, *lines[:30]])

    def priced(self, number: int) -> str:
        return f"{self.name(number)} ({self.prices[number]:.15g})"

    def state(self, number: int) -> Any:
        return KINDS[self.kind](number)

    def name(self, number: int) -> str:
        return repr(self.state(number))

    def names(self, numbers: Iterable[int]) -> str:
        return f"[{', '.join(map(self.name, numbers))}]"

    def number(self, state: Any) -> int | None:
        """Which state that is; None if it is none."""
        try:
            return {self.state(n): n for n in self.prices}.get(state)
        except TypeError:  # it has no hash
            return None


@dataclass
class Trace:
    """What a search asked for, in order, as numbers."""

    priced: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    rules: Rules = field(default_factory=Rules)
    round_of: dict[int, int] = field(default_factory=lambda: {0: 0})

    def states_of(self, number: int) -> list[int]:
        """The states that were found in that round."""
        return [state for state, of in self.round_of.items() if of == number]


ALIKE = 3.0, 3.0 + 1e-12, 3.0 - 1e-12  # that only a rounded price is equal to
PRICES = [
    [1.0, 2.0, 3.0, 4.0, 5.0, math.inf],
    [1, 2, 3, 4, math.inf],
    [-2.5, -1.0, 0.0, 0.5, 0.75, 1.5, math.inf],
    [0.1, 0.2, 0.30000000000000004, 0.3, 2e9, 2e9 + 0.5],
    [*ALIKE, 2.5, 3.5, math.inf],
    [-9, -5.0, -4.5, -math.pi, 0],
]


@st.composite
def lands(draw: DrawFn, most: int = 9, width: int = 3, depth: int = 5) -> Land:
    """Few prices, so that there are equal ones; states with several parents; ways back."""
    count = draw(st.integers(1, most))
    tree: Tree = {}
    for state in range(1, count):
        for parent in draw(st.lists(st.integers(0, state - 1), min_size=1, max_size=2)):
            tree.setdefault(parent, []).append(state)
    states = st.integers(0, count - 1)
    for state in draw(st.lists(states, max_size=3)):  # one of those before it, the start, or itself
        after = tree.setdefault(state, [])
        after.insert(draw(st.integers(0, len(after))), draw(st.integers(0, state)))
    cost = st.sampled_from(draw(st.sampled_from(PRICES)))
    prices = {state: draw(cost) for state in range(count)}
    kind = draw(st.sampled_from(list(KINDS)))
    return Land(tree, prices, draw(st.integers(1, width)), draw(st.integers(0, depth)), kind)


def traced(beam_search: Any, land: Land) -> tuple[Any, Trace]:
    """Run the answer; Wrong as soon as it asks for what it must not ask for."""
    trace = Trace()

    def successors(state: Any) -> list[Any]:
        number = _known(state, trace, land)
        if number in trace.asked:
            trace.rules.break_with(Wrong(f"`successors` is called twice for state {state!r}.",
                                         program=str(land), spec=ONCE[0]))  # fmt: skip
        trace.asked.append(number)
        after = trace.round_of[number] + 1
        for new in land.tree.get(number, []):
            trace.round_of.setdefault(new, after)
        return [land.state(new) for new in land.tree.get(number, [])]

    def price(state: Any) -> float:
        number = _known(state, trace, land)
        if number in trace.priced:
            wrong = Wrong(f"State {state!r} is priced twice.", program=str(land), spec=ONCE[1])
            trace.rules.break_with(wrong)
        trace.priced.append(number)
        return land.prices[number]

    start = land.state(0)
    call = f"beam_search({start!r}, successors, price, {land.width}, {land.depth})"
    with trace.rules.count(f"{call}\n{land}"):
        return beam_search(start, successors, price, land.width, land.depth), trace


def _known(state: Any, trace: Trace, land: Land) -> int:
    number = land.number(state)
    if number is None or number not in trace.round_of:
        trace.rules.break_with(Wrong("Only the start and what `successors` has listed are states.",
                                     program=str(land), got=repr(state)[:200],
                                     spec=ASKED[1]))  # fmt: skip
    return number


def judged(beam_search: Any, land: Land) -> None:
    """All that the text says; Wrong names the first state for which it does not hold."""
    got, trace = traced(beam_search, land)
    wrong = partial(Wrong, program=str(land))
    for state in trace.round_of:
        if state not in trace.priced and state:
            raise wrong(f"State {land.name(state)} is found but never priced.", spec=WHAT)
    if 0 not in trace.priced:
        raise wrong("The start must be priced.", spec=START)
    if trace.asked[:1] != [0] and land.depth:
        raise wrong("The start must go on.", spec=START)
    for number in range(max(trace.round_of.values()) + 1):
        _went_on(trace, number, land)
    number = land.number(got)
    if number is None or number not in trace.round_of:
        raise wrong("The answer must be a state that was priced.", got=returned(got), spec=WHAT)
    best = min(trace.round_of, key=lambda s: (land.prices[s], trace.round_of[s]))
    if number != best:
        cheaper = land.prices[best] < land.prices[number]
        why = "cheaper" if cheaper else "as cheap, and was found first"
        raise wrong(f"The answer must be state {land.name(best)}: it is {why}.",
                    got=f"{got!r}, which costs {land.prices[number]:.15g}", spec=WHAT,
                    expected=f"{land.name(best)}, which costs {land.prices[best]:.15g}",
                    )  # fmt: skip


def _went_on(trace: Trace, number: int, land: Land) -> None:
    """Of the states of a round, the right ones were asked for their successors, in order."""
    on = [state for state in trace.asked if trace.round_of[state] == number]
    if number >= land.depth:
        if on:
            raise Wrong(f"State {land.name(on[0])} goes on after the last round, {number}.",
                        program=str(land), got=f"called for: {land.names(trace.asked)}",
                        spec=OVER[1])  # fmt: skip
        return
    there, width = trace.states_of(number), land.width
    wrong = partial(Wrong, program=str(land), got=f"found in round {number}: "
                    f"{land.names(there)}; went on: {land.names(on)}")  # fmt: skip
    for state in on:
        if land.prices[state] == math.inf and number:
            raise wrong(f"State {land.name(state)} has an infinite price and goes on.",
                        spec=NEVER[0])  # fmt: skip
    if len(on) > width:
        raise wrong(f"{len(on)} states go on after round {number}.", spec=WIDE[0])
    rank = {state: (land.prices[state], place) for place, state in enumerate(there)}
    for state in [s for s in there if s not in on and land.prices[s] < math.inf]:
        mine = land.name(state)
        if len(on) < width:
            raise wrong(f"State {mine} must go on: there is room for it.", spec=WIDE[0])
        for other in on:
            if rank[state] < rank[other]:
                equal = rank[state][0] == rank[other][0]
                why = "was found first" if equal else "is cheaper"
                raise wrong(f"State {mine} must go on rather than {land.name(other)}: it {why}.",
                            spec=FIRST if equal else WIDE[0])  # fmt: skip
    if on != sorted(on, key=lambda state: rank[state]):
        raise wrong("`successors` must be called for the cheapest first.", spec=ASKED[0])


SMALL = [
    Land({0: [1, 2], 1: [3], 2: [4]}, {0: 9, 1: 4, 2: 5, 3: 4, 4: 1}, 2, 2),
    Land({0: [1], 1: [2]}, {0: 3, 1: 3, 2: 1}, 1, 2),  # a round that gains nothing
    Land({0: [1], 1: [2], 2: [3]}, {0: 3, 1: 1, 2: 2, 3: 2}, 1, 3),  # the last is not the best
    Land({0: [1, 2], 1: [3]}, {0: 3, 1: math.inf, 2: 2, 3: 1}, 2, 3),
    Land({0: [1], 1: [2]}, {0: math.inf, 1: 2, 2: 1}, 1, 2),  # a start that cannot be run
    Land({0: [0, 1], 1: [0, 2], 2: [1, 3]}, {0: 1, 1: 3, 2: 3, 3: 2}, 2, 4),  # ways back
    Land({0: [1, 2], 1: [3], 2: [4]}, {0: 9, 1: -0.5, 2: -0.5, 3: -3, 4: -2.5}, 1, 2, "strings"),
    Land({0: [1, 2], 1: [3], 2: [4]}, {0: 9, 1: 3 + 1e-9, 2: 3, 3: 0, 4: 1}, 1, 2, "tuples"),
    Land({0: [1, 2, 3, 4], 4: [5]}, {0: 9, 1: 1, 2: 2, 3: 3, 4: 4, 5: 0.5}, 4, 2),
    Land({0: [1, 2, 3], 1: [2, 3]}, {0: 9, 1: 4, 2: 4, 3: 4}, 2, 3, "strings and numbers"),
    Land({0: [1, 2], 1: [3, 4], 2: [5, 6], 3: [7], 4: [8], 5: [9], 6: [10]},  # one width for all
         {n: float(n) for n in range(11)}, 2, 3),
]  # fmt: skip


@checks("schedule.beam_search", spec=ALL)
def small_trees(beam_search):
    """Eleven small trees."""
    for land in SMALL:
        judged(beam_search, land)
    return "eleven small trees"


@checks("schedule.beam_search", given=lands(), examples=120, what="random trees", spec=ALL)
def the_right_states_go_on(beam_search, land):
    """In each round the right states go on, each is priced once, and the best of all comes out."""
    judged(beam_search, land)


@checks("schedule.beam_search", spec=ALL)
def a_search_without_an_end_to_find(beam_search):
    """A tree of 2**40 paths in which every second one meets again."""
    depth = 40
    tree = {n: [n + 1 + (n % 2), n + 2 + (n % 2)] for n in range(2 * depth)}
    prices = {n: float(1 + (7 * n) % 11) for n in range(2 * depth + 6)}
    judged(beam_search, Land(tree, prices, 4, depth))
