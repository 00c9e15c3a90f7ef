"""Dependences: two iterations that touch the same element, the first or the second writing it.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> jacobi = parse_kernel('''
... kernel @jacobi(out: f32[5,9]) {
...   for t in 0..4 { for i in 1..8 { out[t + 1, i] = out[t, i - 1] + out[t, i + 1] } }
... }''')
>>> for d in dependences(jacobi.body):
...     print(f"{d.kind} {d.distance} {' '.join(d.direction)}  {d.witness}")
flow (1, 1) < <  iteration (t=1, i=2) reads out[1, 1], which (t=0, i=1) has to write first
flow (1, -1) < >  iteration (t=1, i=1) reads out[1, 2], which (t=0, i=2) has to write first

The two ends have names of their own: the later iteration of i is i'. All conditions together, that
both are iterations, that they touch the same element, and that one runs before the other, have a
solution in whole numbers or not (`points.py`); the solution is the *witness*. A local that lives
in a loop is another one in each iteration. An index that is data may be any. What counts is the
memory: an element may have been written again in between, so that no value flows from the one
iteration to the other (Feautrier, 1991, tells those that do). Next room:
`course_lib/ir/loops/dependence.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from course_lib.ir.expr import Affine, print_expr
from course_lib.ir.loops.nest import Loop, Stmt
from course_lib.ir.loops.polyhedra.domains import LATER, Statement, V, later, statements_of, within
from course_lib.ir.loops.polyhedra.points import TooHard, find_point
from course_lib.ir.loops.walk import Access

KIND = {("write", "read"): "flow", ("read", "write"): "anti", ("write", "write"): "output"}
Time = Sequence[Affine]
SIGNS = {"=>": ">=", "<>": "!=", "<=>": "*"}  # what the directions < = > are called together


@dataclass(frozen=True)
class Conditions:
    """What must be 0, and what at least 0."""

    zero: tuple[Affine, ...] = ()
    positive: tuple[Affine, ...] = ()

    def __and__(self, other: Conditions) -> Conditions:
        return Conditions(self.zero + other.zero, self.positive + other.positive)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two accesses to one buffer, of which one writes. Their iterations may meet at an element.

    kind     if the first runs first, then flow: the second reads what it wrote; anti: the second
             writes over what it read; output: both write
    outside  loops around all that is asked about: both iterations are in the same one of them
    """

    kind: str
    buffer: str
    source: Statement
    first: Access
    sink: Statement
    second: Access
    outside: tuple[Loop, ...] = ()

    @property
    def vars(self) -> tuple[str, ...]:
        """The variables of the loops around both."""
        both = zip(self.source.vars, self.sink.vars, strict=False)
        alike = [a == b for a, b in both]
        return self.source.vars[: [*alike, False].index(False)]

    @cached_property
    def same(self) -> Conditions:
        """Both touch the same element. An index that is data may be any."""
        indices = zip(self.first.indices, self.second.indices, strict=True)
        apart = [later(b, self.sink.vars) - a for a, b in indices
                 if isinstance(a, Affine) and isinstance(b, Affine)]  # fmt: skip
        alive = self.source.vars[: self.source.private.get(self.buffer, 0)]
        return Conditions((*apart, *(V(var + LATER) - V(var) for var in alive)))

    @cached_property
    def inside(self) -> Conditions:
        """Both are iterations."""
        around = [condition for loop in self.outside for condition in within(loop)]
        return Conditions((), (*around, *self.source.domain, *self.sink.later_domain))

    def point(self, *more: Conditions) -> dict[str, int] | None:
        """Two iterations that meet and satisfy more conditions; the sink's variables are primed.

        TooHard if it is not known whether there are any.
        """
        all = self.same
        for conditions in more:
            all = all & conditions
        with suppress(TooHard):
            if _point(all, ()) is None:
                return None  # whatever the bounds of the loops are
        ends = [end for var in self.vars for end in (var, var + LATER)]
        ends += [*self.source.vars, *(var + LATER for var in self.sink.vars)]
        return _point(all & self.inside, ends)

    def words(self, point: Mapping[str, int]) -> str:
        """What has to stay in order, for two iterations as `point` gives them."""
        around = {loop.var: point[loop.var] for loop in self.outside}
        source = _iteration({**around, **{var: point[var] for var in self.source.vars}})
        sink = _iteration({**around, **{var: point[var + LATER] for var in self.sink.vars}})
        at = {**point, **{var: point[var + LATER] for var in self.sink.vars}}
        indices = [str(i.evaluate(at)) if isinstance(i, Affine) else print_expr(i)
                   for i in self.second.indices]  # fmt: skip
        element = f"{self.buffer}[{', '.join(indices)}]"
        first = source.removeprefix("iteration ")
        return f"{sink} {self.second.way}s {element}, which {first} has to {self.first.way} first"


@dataclass(frozen=True, eq=False)
class Dependence:
    """A pair that meets in an order: `carrier` is the outermost loop in which the two iterations
    differ, "" if there is none. `point` has two such iterations, None if it is not known whether
    there are any."""

    pair: Pair
    order: Conditions
    carrier: str
    point: dict[str, int] | None

    @property
    def kind(self) -> str:
        return self.pair.kind

    @property
    def buffer(self) -> str:
        return self.pair.buffer

    @property
    def witness(self) -> str:
        """Two iterations that must stay in order, in words."""
        if self.point is None:
            return "whether this is legal is too hard to say"
        return self.pair.words(self.point)

    def __str__(self) -> str:
        article = "a" if self.kind == "flow" else "an"
        return f"{article} {self.kind} dependence through {self.buffer}"

    @property
    def steps(self) -> dict[str, int]:
        """How many iterations later the second one of the witness is, in each loop around both."""
        point = self.point or {}
        return {var: point[var + LATER] - point[var] for var in self.pair.vars if point}

    @property
    def distance(self) -> tuple[int | None, ...]:
        """How many iterations later, in each loop around both; None where that varies."""
        distances = dict.fromkeys(self.pair.vars)
        for var, step in self.steps.items():
            apart = V(var + LATER) - V(var) - step
            varies = any(map(self._may, (apart - 1, apart * -1 - 1)))
            distances[var] = None if varies else step
        return tuple(distances.values())

    @property
    def direction(self) -> tuple[str, ...]:
        """For each loop around both: < if the later end has the later iteration, = if the same one,
        > if an earlier one; <=, >= and != for two of them, * for all."""
        directions = []
        for var in self.pair.vars:
            apart = V(var + LATER) - V(var)
            signs = {"<": apart - 1, "=": apart, ">": apart * -1 - 1}
            may = "".join(s for s, sign in signs.items() if self._may(sign, exactly=s == "="))
            directions.append(SIGNS.get(may, may))
        return tuple(directions)

    def _may(self, affine: Affine, exactly: bool = False) -> bool:
        """Are there two such iterations for which the affine is at least 0 (or exactly 0)?"""
        more = Conditions(zero=(affine,)) if exactly else Conditions(positive=(affine,))
        try:
            return self.pair.point(self.order, more) is not None
        except TooHard:
            return True


def dependences(body: Sequence[Stmt], outside: Sequence[Loop] = ()) -> list[Dependence]:
    """All dependences of some statements: for each pair of accesses, one for each carrier.

    outside  loops around the statements; nothing is said of different iterations of these
    """
    return [d for pair in pairs([*statements_of(body)], outside) for d in ordered(pair)]


def ordered(pair: Pair, carrier: str | None = None) -> Iterator[Dependence]:
    """The dependences of one pair: in the order of the program, the first end before the second.
    With a `carrier`, only that of this loop."""
    there = tuple(later(entry, pair.sink.vars) for entry in pair.sink.time)
    for place, order in earlier(pair.source.time, there):
        differ = pair.vars[place // 2] if place % 2 else ""
        if carrier is not None and carrier != differ:
            continue
        try:
            point = pair.point(order)
        except TooHard:
            yield Dependence(pair, order, differ, None)
        else:
            if point is not None:
                yield Dependence(pair, order, differ, point)


def pairs(statements: Sequence[Statement], outside: Sequence[Loop] = ()) -> Iterator[Pair]:
    """Two accesses each, in both orders, to one buffer, of which at least one writes."""
    touched = [(statement, access) for statement in statements for access in statement.accesses]
    for (source, first), (sink, second) in product(touched, touched):
        kind = KIND.get((first.way, second.way))
        if first.buffer == second.buffer and kind is not None:
            yield Pair(kind, first.buffer, source, first, sink, second, tuple(outside))


def earlier(a: Time, b: Time) -> Iterator[tuple[int, Conditions]]:
    """When the time `a` is before `b`: one of these, each with the place where they differ first.

    (0, i, 0) and (0, i', 1):    i < i', at place 1;   i = i', at place 2, as 0 is less than 1
    """
    same: tuple[Affine, ...] = ()
    for place, (x, y) in enumerate(zip(a, b, strict=False)):
        apart = y - x
        if apart.terms or apart.const > 0:
            yield place, Conditions(same, (apart - 1,))
        if not apart.terms and apart.const:
            return
        same = (*same, apart) if apart.terms else same


def _point(all: Conditions, names: Sequence[str]) -> dict[str, int] | None:
    """A point, with small numbers for variables without a name here, then for these in turn."""
    used = {var for a in (*all.zero, *all.positive) for var in a.vars}
    return find_point(
        [*sorted(used.difference(names)), *dict.fromkeys(names)], all.zero, all.positive
    )


def _iteration(values: Mapping[str, int]) -> str:
    if not values:
        return "what is in no loop"
    return f"iteration ({', '.join(f'{var}={value}' for var, value in values.items())})"
