"""The iterations of a statement, and what each of them touches.

    for i in 0..8 { for j in i..8 { out[i, j] = x[j, i] } }

    domain     { i, j : i >= 0, 7 - i >= 0, j - i >= 0, 7 - j >= 0 }
    accesses   x[j, i] is read, out[i, j] is written
    time       (0, i, 0, j, 0): of two iterations, the one with the smaller time comes first

A domain has affine conditions, an access affine indices: a *polyhedron* and an *access map*. The
numbers in the time say where a statement or a loop stands in its block (Feautrier, 1992; Kelly and
Pugh's form with 2d + 1 entries). A variable of a loop that is not in sight, because only a part of
a kernel is asked about, may have any value. Next room: `dependences.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Local, Loop, Stmt, Write
from course_lib.ir.loops.walk import Access, accesses

V = Affine.var
LATER = "'"  # i' is the i of the later one of two iterations


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement that writes, and where it stands.

    around    the loops around it, outermost first
    position  in the block of the body, of the first loop, ..., of the last loop: one more
    private   the locals in scope, and how many of the loops stand around their declaration: each
              iteration of those has a local of its own
    """

    write: Write
    around: tuple[Loop, ...]
    position: tuple[int, ...]
    private: Mapping[str, int]

    @property
    def vars(self) -> tuple[str, ...]:
        return tuple(loop.var for loop in self.around)

    @property
    def accesses(self) -> list[Access]:
        return accesses((self.write,))

    @cached_property
    def domain(self) -> tuple[Affine, ...]:
        """Each is at least 0 at the iterations, and only there."""
        return tuple(condition for loop in self.around for condition in within(loop))

    @cached_property
    def later_domain(self) -> tuple[Affine, ...]:
        """The same of the later one of two iterations."""
        return tuple(later(condition, self.vars) for condition in self.domain)

    @property
    def time(self) -> tuple[Affine, ...]:
        """When an iteration runs; times are compared as words are, the first entry first."""
        loops = [entry for place, var in zip(self.position, self.vars, strict=False)
                 for entry in (Affine((), place), V(var))]  # fmt: skip
        return (*loops, Affine((), self.position[-1]))


def statements_of(
    body: Sequence[Stmt],
    around: tuple[Loop, ...] = (),
    position: tuple[int, ...] = (),
    private: Mapping[str, int] | None = None,
) -> Iterator[Statement]:
    """Every statement of a body that writes, in program order."""
    private = dict(private or {})
    for place, stmt in enumerate(body):
        match stmt:
            case Local(buffer):
                private[buffer.name] = len(around)
            case Loop():
                yield from statements_of(stmt.body, (*around, stmt), (*position, place), private)
            case _:
                yield Statement(stmt, around, (*position, place), private)


def within(loop: Loop) -> list[Affine]:
    """What is at least 0 for each value that the variable of a loop has."""
    var = V(loop.var)
    return [*(var - start for start in loop.starts), *(stop - 1 - var for stop in loop.stops)]


def later(affine: Affine, names: Sequence[str]) -> Affine:
    """The same of another iteration: i + 1 becomes i' + 1. Variables not in `names` stay."""
    return affine.substitute({name: V(name + LATER) for name in names})
