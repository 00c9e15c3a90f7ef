"""May the iterations run in another order? One test for all changes of the order, with a witness.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> seidel = parse_kernel('''
... kernel @seidel(x: f32[9], out: f32[9]) {
...   for t in 0..4 { for i in 1..8 { out[i] = out[i - 1] + out[i + 1] } }
... }''')
>>> print(may_reorder(seidel, ("i", "t")))
no: iteration (t=1, i=1) writes out[1], which (t=0, i=2) has to read first
>>> print(may_tile(seidel, {"t": 2, "i": 4}))
no: iteration (t=1, i=4) writes out[4], which (t=0, i=5) has to read first
>>> print(may_parallelize(seidel, "i"))
no: iteration (t=0, i=2) writes out[2], which (t=0, i=1) has to read first

Every change is a new time for each iteration (`Order`), and one function compares the times:
`backwards` looks for a pair of iterations that must stay in order and do not. If there is none, the
change is legal, whatever the values are. A sum may be added up in another order: code generation
regroups it, too. The answer then says that it rests on that, and with `exact` it is no.

>>> total = parse_kernel('''
... kernel @total(x: f32[4,4], out: f32[1]) {
...   for i in 0..4 { for j in 0..4 { out[0] += x[i, j] } }
... }''')
>>> print(may_reorder(total, ("j", "i")))
yes, as the += of out may come in any order
>>> print(may_reorder(total, ("j", "i"), exact=True))
no: iteration (i=1, j=0) writes out[0], which (i=0, j=1) has to read first

Next room: `primitives/split.py`; `reorder.py` asks here before loops change their places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from course_lib.ir.expr import INFIX
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Accumulate, Kernel, Loop
from course_lib.ir.loops.polyhedra.dependences import (
    Conditions,
    Dependence,
    Pair,
    Time,
    earlier,
    ordered,
    pairs,
)
from course_lib.ir.loops.polyhedra.domains import Statement, V, later, statements_of
from course_lib.ir.loops.polyhedra.points import TooHard
from course_lib.ir.loops.walk import extreme, nest_of


@dataclass(frozen=True)
class Order:
    """When an iteration of a statement runs: `time`, made of its loop variables and of others that
    the conditions define, such as the number of a block."""

    time: Time
    where: Conditions = Conditions()  # noqa: RUF009


NewOrder = Callable[[Statement], Order]


@dataclass(frozen=True)
class Answer:
    """Is it legal? `witness` is a dependence that is not kept, `rests_on` says what must not matter
    if it is legal."""

    witness: Dependence | None = None
    rests_on: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.witness is None

    def __str__(self) -> str:
        if self.witness is not None:
            return f"no: {self.witness.witness}"
        return ", ".join(
            ["yes", *(f"as the {what} may come in any order" for what in self.rests_on)]
        )


def may_run(kernel: Kernel, var: str, new: NewOrder, exact: bool) -> Answer:
    """May the statements in the loop over `var` run in this order? All of them if there is no such
    loop. `new` says of each statement when an iteration of it runs."""
    nest = nest_of(kernel.body, var)
    body = nest[-1:] or kernel.body
    return backwards([*statements_of(body)], new, nest[:-1], exact)


def may_reorder(kernel: Kernel, order: Sequence[str], exact: bool = False) -> Answer:
    """May these loops, each all that the body of the one around it has, stand in this order?"""
    names = tuple(loop.var for loop in _nest(kernel, order))
    *outside, loop = nest_of(kernel.body, names[0])
    around = tuple(replace(outer, body=()) for outer in outside)
    return _may_reorder(loop, around, names, tuple(order), exact)


@lru_cache(maxsize=4096)  # searches ask the same of the same loops again and again
def _may_reorder(
    loop: Loop, around: tuple[Loop, ...], names: tuple[str, ...], order: tuple[str, ...],
    exact: bool,
) -> Answer:  # fmt: skip
    to = dict(zip(names, map(V, order), strict=True))

    def new(statement: Statement) -> Order:
        return Order(tuple(entry.substitute(to) for entry in statement.time))

    return backwards([*statements_of((loop,))], new, around, exact)


def may_tile(kernel: Kernel, sizes: Mapping[str, int], exact: bool = False) -> Answer:
    """May these nested loops run block by block, in blocks of so many iterations of each?"""
    nest = _nest(kernel, [*sizes])
    outside = nest_of(kernel.body, nest[0].var)[:-1]
    numbers, inside = [], []
    for depth, loop in enumerate(nest):
        around = (*outside, *nest[:depth])
        first = max(extreme(start, around, -1).const for start in loop.starts)
        number = V(f"{loop.var}/{sizes[loop.var]}")
        within = V(loop.var) - first - number * sizes[loop.var]
        numbers.append(number)
        inside += [within, within * -1 + sizes[loop.var] - 1]

    def new(statement: Statement) -> Order:
        at = statement.time.index(V(nest[0].var))
        time = (*statement.time[:at], *numbers, *statement.time[at:])
        return Order(time, Conditions(positive=tuple(inside)))

    return may_run(kernel, nest[0].var, new, exact)


def may_parallelize(kernel: Kernel, var: str) -> Answer:
    """May the iterations of a loop run at the same time? Not those that add to the same sum."""
    *around, loop = _nest(kernel, [var], whole=True)
    return Answer(next(iter(carried(loop, around)), None))


may_vectorize = may_parallelize  # lanes are iterations that run at the same time


def backwards(
    statements: Sequence[Statement], new: NewOrder, outside: Sequence[Loop] = (),
    exact: bool = False,
) -> Answer:  # fmt: skip
    """Do all dependences lead forwards in the new order, too?

    outside  loops around the statements: iterations that differ in these keep their order
    exact    sums have to be added up in the order of the program
    """
    rests_on: dict[str, None] = {}
    for pair in pairs(statements, outside):
        first, then = new(pair.source), _primed(new(pair.sink), outside)
        same = Conditions(tuple(b - a for a, b in zip(first.time, then.time, strict=False)))
        turned = [*(order for _, order in earlier(then.time, first.time)), same]
        for kept in ordered(pair):
            lost = next(
                (d for t in turned if (d := _both(kept, first.where & then.where & t))), None
            )
            if lost is not None and (exact or not (total := _reduction(pair))):
                return Answer(lost)
            if lost is not None:
                rests_on[total] = None
    return Answer(rests_on=tuple(rests_on))


def _primed(order: Order, outside: Sequence[Loop]) -> Order:
    """The order of the other iteration: i' for i."""
    used = {v for a in (*order.time, *order.where.zero, *order.where.positive) for v in a.vars}
    names = sorted(used - {loop.var for loop in outside})
    time = tuple(later(entry, names) for entry in order.time)
    zero, positive = ([later(a, names) for a in part]
                      for part in (order.where.zero, order.where.positive))  # fmt: skip
    return Order(time, Conditions(tuple(zero), tuple(positive)))


def _both(kept: Dependence, turned: Conditions) -> Dependence | None:
    """Where the dependence holds and the new order is the other way round."""
    try:
        point = kept.pair.point(kept.order, turned)
    except TooHard:
        return Dependence(kept.pair, kept.order & turned, kept.carrier, None)
    if point is None:
        return None
    return Dependence(kept.pair, kept.order & turned, kept.carrier, point)


def _reduction(pair: Pair) -> str:
    """What both add to, as "+= of out"; "" if they do anything else with it."""
    one, other = pair.source.write, pair.sink.write
    if not isinstance(one, Accumulate) or not isinstance(other, Accumulate):
        return ""
    reads = [[a.buffer for a in s.accesses if a.way == "read"] for s in (pair.source, pair.sink)]
    own = one.buffer == other.buffer == pair.buffer and one.op == other.op
    alone = all(read.count(pair.buffer) == 1 for read in reads)
    return f"{INFIX.get(one.op, one.op)}= of {pair.buffer}" if own and alone else ""


def _nest(kernel: Kernel, names: Sequence[str], whole: bool = False) -> tuple[Loop, ...]:
    """The loops of these names, one in another, outermost first; `whole`: and those around them."""
    nests = [nest_of(kernel.body, name) for name in names]
    longest = max(nests, key=len)
    inner = longest[len(longest) - len(names) :]
    if not all(nests) or {loop.var for loop in inner} != set(names):
        raise ValueError(f"the loops {', '.join(names)} do not stand one in another")
    return longest if whole else inner
