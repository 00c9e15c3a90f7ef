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
    return [d for d, _ in _dependences([loop])]


def prevents_interchange(outer: Loop, inner: Loop) -> Dependence | None:
    """A dependence that would run backwards if `inner`, the body of `outer`, were outside."""
    backwards = [d for d, (_, least) in _dependences([outer, inner]) if least < 0]
    return backwards[0] if backwards else None


def _dependences(nest: Sequence[Loop]) -> list[tuple[Dependence, tuple[float, ...]]]:
    """What the first loop of a nest carries, and the least distance in each loop of the nest."""
    body = nest[-1].body
    private = {s.buffer.name for s in statements(body) if isinstance(s, Local)}
    inside = loops(body)
    found: dict[Dependence, tuple[float, ...]] = {}
    touched = [a for a in accesses(body) if a.buffer not in private]
    for source, sink in product(touched, touched):
        if source.buffer != sink.buffer or (source.way, sink.way) not in KIND:
            continue
        distance = _distances(source, sink, nest, inside)
        if distance is not None:
            dependence = Dependence(KIND[source.way, sink.way], source.buffer)
            least = tuple(low for low, _ in distance)
            before = found.get(dependence, least)
            found[dependence] = tuple(min(pair) for pair in zip(before, least, strict=True))
    return list(found.items())


def _distances(
    source: Access, sink: Access, nest: Sequence[Loop], inside: Sequence[Loop]
) -> list[Interval] | None:
    """How many iterations later, in each loop of the nest, `sink` may touch what `source` touched.

    In the first loop at least one; None if there is no such distance.
    """
    found = [_at_most(loop) for loop in nest]
    found[0] = (1, found[0][1])
    for from_, to in zip(source.indices, sink.indices, strict=True):
        if not isinstance(from_, Affine) or not isinstance(to, Affine):
            continue  # only data knows
        ends = [extreme(index, inside, sign) for index in (from_, to) for sign in (-1, +1)]
        apart = [end - ends[0] for end in ends]
        moving = [k for k, loop in enumerate(nest) if ends[0].coefficient(loop.var)]
        if any(difference.terms for difference in apart) or len(moving) > 1:
            continue  # too hard to say
        least, most = -apart[3].const, apart[1].const - apart[2].const  # of `from_` - `to`
        if not moving and not least <= 0 <= most:
            return None
        for k in moving:
            step = ends[0].coefficient(nest[k].var)
            low, high = sorted((least / step, most / step))
            found[k] = (max(found[k][0], math.ceil(low)), min(found[k][1], math.floor(high)))
    return None if any(low > high for low, high in found) else found


def _at_most(loop: Loop) -> Interval:
    """Distances between the iterations of one loop, forwards and backwards."""
    furthest = math.inf if loop.extent is None else max(loop.extent - 1, 0)
    return -furthest, furthest
