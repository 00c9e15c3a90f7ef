"""Dependence: which iterations of a loop must stay in order?

    for i in 0..9 { out[i + 1] = out[i] + x[i] }     flow: it reads what the one before wrote
    for i in 0..9 { out[i] = out[i + 1] + x[i] }     anti: it writes what the one before read
    for i in 0..9 { out[0] = x[i] }                  output: both write the same element
    for i in 0..9 { out[i] = out[i] + x[i] }         none: the iterations are independent

A dependence is *carried* by a loop if it leads from one of its iterations to a later one. The test
is the one of intervals: along each axis of a buffer, two accesses can meet only if the distance
between the iterations makes up for how far apart the indices are. Where it cannot tell, it assumes
a dependence. Next room: `verify.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Local, Loop
from course_lib.ir.loops.walk import Access, accesses, extreme, loops, statements

KIND = {("write", "read"): "flow", ("read", "write"): "anti", ("write", "write"): "output"}
Interval = tuple[float, float]


@dataclass(frozen=True)
class Dependence:
    """`kind` is flow, anti or output; `buffer` is where the elements lie."""

    kind: str
    buffer: str

    def __str__(self) -> str:
        article = "a" if self.kind == "flow" else "an"
        return f"{article} {self.kind} dependence through {self.buffer}"


def carried(loop: Loop) -> list[Dependence]:
    """The dependences that a loop carries, those of the first statements first, each once.

    Empty: its iterations may run in any order, or at the same time. What is local to an iteration
    carries nothing.
    """
    return list(dict.fromkeys(dependence for dependence, _ in _dependences([loop])))


@dataclass(frozen=True)
class Backwards:
    """A dependence that another order of the loops would turn round, and the witness: how many
    iterations later, in each loop as they stand now, what depends on an iteration may run."""

    dependence: Dependence
    later: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        steps = ", ".join(f"{var} {step:+}" for var, step in self.later)
        return f"{self.dependence} would run backwards: it leads from an iteration to ({steps})"


def prevents_order(nest: Sequence[Loop], order: Sequence[str]) -> Backwards | None:
    """A dependence that would run backwards if the loops of a perfect nest stood in this order.

    A dependence leads forwards: in the first loop in which its ends differ, the later end has the
    later iteration. The new order is right if that stays true whatever the distances are.
    """
    for carrier in range(len(nest)):
        tail = [loop.var for loop in nest[carrier:]]  # the loops further out are at one iteration
        for dependence, box in _dependences(nest[carrier:]):
            distance = dict(zip(tail, box, strict=True))
            for var in order:
                low, high = distance.get(var, (0, 0))
                if low < 0:
                    distance[var] = (min(high, -1), min(high, -1))
                    witness = tuple((v, _nearest(*distance[v])) for v in tail)
                    return Backwards(dependence, witness)
                if low > 0:
                    break
                if var in distance:
                    distance[var] = (0, 0)  # only with no distance here do the next loops decide
    return None


def _nearest(low: float, high: float) -> int:
    """The whole number of an interval that is nearest to 0."""
    return int(min(max(low, 0), high))


def _dependences(nest: Sequence[Loop]) -> list[tuple[Dependence, list[Interval]]]:
    """What the first loop of a nest carries, and the distances in each loop of the nest."""
    body = nest[-1].body
    private = {s.buffer.name for s in statements(body) if isinstance(s, Local)}
    inside = loops(body)
    found = []
    touched = [a for a in accesses(body) if a.buffer not in private]
    for source, sink in product(touched, touched):
        if source.buffer != sink.buffer or (source.way, sink.way) not in KIND:
            continue
        distance = _distances(source, sink, nest, inside)
        if distance is not None:
            found.append((Dependence(KIND[source.way, sink.way], source.buffer), distance))
    return found


def _distances(
    source: Access, sink: Access, nest: Sequence[Loop], inside: Sequence[Loop]
) -> list[Interval] | None:
    """How many iterations later, in each loop of the nest, `sink` may touch what `source` touched.

    In the first loop at least one; None if there is no such distance.
    """
    around = [*nest, *inside]  # where both move alike, a loop inside has a distance, too
    found = [_at_most(loop) for loop in around]
    found[0] = (1, found[0][1])
    fixed = not any(loop.start.terms or loop.stop.terms for loop in inside)
    conditions = []
    for from_, to in zip(source.indices, sink.indices, strict=True):
        if not isinstance(from_, Affine) or not isinstance(to, Affine):
            continue  # only data knows
        ranging = [] if fixed and not (to - from_).terms else inside
        ends = [extreme(index, ranging, sign) for index in (from_, to) for sign in (-1, +1)]
        apart = [end - ends[0] for end in ends]
        if any(difference.terms for difference in apart):
            continue  # too hard to say
        steps = [ends[0].coefficient(loop.var) for loop in around]
        conditions.append((steps, (-apart[3].const, apart[1].const - apart[2].const)))
    for steps, bounds in conditions * len(nest):  # what one says of a loop helps the next ones
        if not _narrowed(found, steps, bounds):
            return None
    return found[: len(nest)]


def _narrowed(found: list[Interval], steps: Sequence[int], bounds: Interval) -> bool:
    """Narrow the distances so that the sum of steps * distances may lie between the bounds.

    False if it cannot: one of the intervals is empty, or no loop moves and 0 is not in between.
    """
    reach = [sorted((s * low, s * high)) if s else [0, 0]
             for s, (low, high) in zip(steps, found, strict=True)]  # fmt: skip
    least, most = (sum(end) for end in zip(*reach, strict=True))
    if least > bounds[1] or most < bounds[0]:
        return False
    for k, step in enumerate(steps):
        others = [r for j, r in enumerate(reach) if j != k]
        room = bounds[0] - sum(r[1] for r in others), bounds[1] - sum(r[0] for r in others)
        if not step or math.inf in map(abs, room):
            continue
        low, high = sorted(end / step for end in room)
        found[k] = (max(found[k][0], math.ceil(low)), min(found[k][1], math.floor(high)))
    return all(low <= high for low, high in found)


def _at_most(loop: Loop) -> Interval:
    """Distances between the iterations of one loop, forwards and backwards."""
    furthest = math.inf if loop.extent is None else max(loop.extent - 1, 0)
    return -furthest, furthest
