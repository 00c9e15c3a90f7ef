"""What one decision may add to a schedule, as steps that belong together.

    kind      a decision of this kind
    tile      a register tile (`candidates.py`); blocks of a product (`product.py`); the default's
    order     two outer loops change places; one of them is split, and a part goes elsewhere
    inner     an innermost loop becomes vectors, or is unrolled, as a whole or in part
    parallel  another loop runs on several threads, or none does

Decisions come in the order of their kinds, at most so many of each as `KINDS` says. A move only
proposes: the primitives that it uses accept it, and then it is legal, or refuse it, and then it is
no move. So nothing here has to know what a dependence is.

>>> from course_lib.cost.machine import Machine
>>> from course_lib.ir.loops.parse import parse_kernel
>>> rows = parse_kernel('''
... kernel @rows(x: f32[4,6], out: f32[4,6]) {
...   for i in 0..4 { for j in 0..6 { out[i, j] = x[i, j] + x[i, j] } } }''')
>>> for move in moves(Problem(rows, Machine(vector_bytes=8)), rows):
...     print(f"{move.kind:6} {move.decide(rows)[0]}")
tile   no tile
order  interchange(i, j)
order  split(i, 2); reorder(io, j, ii)
order  split(j, 2); reorder(jo, i, ji)
order  split(j, 3); reorder(jo, i, ji)
inner  vectorize(j)
inner  split(j, 2); vectorize(ji)
inner  split(j, 4); vectorize(ji)
inner  unroll(j)
inner  split(j, 2); unroll(ji)
inner  split(j, 3); unroll(ji)

Next room: `space.py`, which counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from course_lib.cost.blocks import PANEL, Blocks, blocks, share
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Kernel, Loop
from course_lib.ir.loops.walk import loops, names_of
from course_lib.schedule.candidates import candidates
from course_lib.schedule.choose import (
    parallel_outside,
    run_in_tiles,
    schedule_for,
    shared,
)
from course_lib.schedule.price import price
from course_lib.schedule.primitives.at import perfect_nest
from course_lib.schedule.product import product, run_in_blocks
from course_lib.schedule.reduction import nests, reduction
from course_lib.schedule.script import Script
from course_lib.schedule.search.problem import Decision, Problem
from course_lib.schedule.steps import (
    Fuse,
    Interchange,
    Parallelize,
    Reorder,
    Split,
    Step,
    Unroll,
    Vectorize,
)

KINDS = {"tile": 1, "order": 2, "inner": 2, "parallel": 1}  # and how many decisions of each
PARTS = (2, 3, 4, 7, 8, 16)  # iterations of the inner part of an outer loop
LONGEST = 16  # iterations that are written out
DEAR = 2  # times as many vector instructions as the cheapest tile has: not worth trying
HOT = 2  # nests and innermost loops that moves are about: those that run most often


@dataclass(frozen=True)
class Move:
    """A decision that could be made: `act` does it to a script, or refuses with a ValueError."""

    kind: str
    act: Callable[[Script], object]

    def decide(self, kernel: Kernel) -> tuple[Decision, Kernel]:
        """The decision, and the kernel after it. ValueError in the words of the primitive."""
        script = Script(kernel)
        self.act(script)
        return Decision(self.kind, tuple(script.steps)), script.kernel


def moves(problem: Problem, kernel: Kernel, decided: Sequence[Decision] = ()) -> Iterator[Move]:
    """Every move that may follow some decisions, which made `kernel` of the problem's."""
    for kind in open_kinds(decided):
        match kind:
            case "tile":
                yield from tiles(problem)
            case "order":
                yield from orders(kernel)
            case "inner":
                yield from inners(problem, kernel)
            case "parallel" if problem.machine.threads > 1:
                yield from parallels(kernel)


def open_kinds(decided: Sequence[Decision]) -> list[str]:
    """The kinds of the next decision: none that comes before the last one's."""
    kinds = list(KINDS)
    decided_kinds = [decision.kind for decision in decided]
    first = kinds.index(decided_kinds[-1]) if decided_kinds else 0
    return [kind for kind in kinds[first:] if decided_kinds.count(kind) < KINDS[kind]]


def finish(kernel: Kernel, decided: Sequence[Decision]) -> Script:
    """A schedule can be run after any decision: where none said what is parallel, the outermost
    loops are, as in the default schedule.

    Every candidate comes through here, so `parallelize` is not asked again what `shared` has asked.
    """
    if any(decision.kind == "parallel" for decision in decided):
        return Script(kernel)
    outside = shared(kernel)
    body = tuple(replace(s, kind="parallel") if s in outside else s for s in kernel.body)
    return Script(replace(kernel, body=body), [Parallelize(loop.var) for loop in outside])


def _steps(kind: str, *steps: Step) -> Move:
    return Move(kind, lambda script: script.do(*steps))


# ── tile ──


def tiles(problem: Problem) -> Iterator[Move]:
    """The default's tile; the others, the cheapest first by the formula that chose the default,
    those left out that cost much more; blocks of a product."""
    kernel, machine, constants = problem.kernel, problem.machine, problem.constants

    def default(script: Script) -> None:
        steps = schedule_for(kernel, machine, constants).steps
        script.do(*(step for step in steps if not isinstance(step, Parallelize)))

    yield Move("tile", default)
    if nests(kernel) != [kernel.body]:
        return  # a recurrence: each nest of a step has the default's tile
    of = reduction(kernel)
    priced = [(price(of, t, machine), t) for t in candidates(of, machine, constants)] if of else []
    priced.sort(key=lambda pair: pair[0])
    for cost, tile in priced:
        if cost > DEAR * priced[0][0]:
            break
        yield Move("tile", lambda script, tile=tile: run_in_tiles(script, tile))
    matrices = product(kernel)
    if matrices is not None:
        for by in all_blocks(problem, matrices.sizes):
            yield Move("tile", lambda script, by=by: run_in_blocks(script, matrices, by))


def all_blocks(problem: Problem, sizes: tuple[int, int, int]) -> Iterator[Blocks]:
    """The blocks that `cost/blocks.py` would take, then larger and smaller ones whose panel has
    room on the stack. None for a product of one row."""
    m, n, k = sizes
    dtype = problem.kernel.out.type.dtype
    if m < 2:
        return
    by = blocks(sizes, dtype, problem.machine)
    heights = dict.fromkeys([by.rows, share(m, by.rows)])
    depths = dict.fromkeys([by.depth, share(k, max(by.depth // 2, 1)), share(k, 2 * by.depth)])
    half = -(-by.columns // 2 // by.lanes) * by.lanes
    widths = dict.fromkeys(min(w, n) for w in (by.columns, half, 2 * by.columns))
    for rows in heights:
        for depth in depths:
            for columns in widths:
                if depth * columns * dtype.size <= PANEL:
                    yield replace(by, rows=rows, depth=depth, columns=columns)


# ── order ──


def orders(kernel: Kernel) -> Iterator[Move]:
    """Other orders of the outer loops, and blocks of them."""
    for nest in outer_nests(kernel):
        names = [loop.var for loop in nest]
        for outer, inner in pairwise(names):
            yield _steps("order", Interchange(outer, inner))
        for at, loop in enumerate(nest):
            for part in parts(loop):
                yield from _moved(names, at, part)


def _moved(names: Sequence[str], at: int, part: int) -> Iterator[Move]:
    """A loop is split; its inner part goes innermost, or its outer part outermost."""
    var = names[at]
    before, after = list(names[:at]), list(names[at + 1 :])
    outer, inner = f"{var}o", f"{var}i"
    if after:
        order = (*before, outer, *after, inner)
        yield _steps("order", Split(var, part), Reorder(order[at:]))
    if before:
        order = (outer, *before, inner, *after)
        yield _steps("order", Split(var, part), Reorder(order[: at + 2]))


def outer_nests(kernel: Kernel) -> list[list[Loop]]:
    """Loops one in another with nothing in between, the nests that run most often first."""
    weighed: list[tuple[int, list[Loop]]] = []
    covered: set[str] = set()
    for loop in loops(kernel.body):
        if loop.var not in covered and loop.kind == "for":
            nest = [inner for inner in perfect_nest(loop) if inner.kind == "for"]
            covered |= {inner.var for inner in nest}
            if len(nest) > 1:
                weighed.append((work(loop), nest))
    weighed.sort(key=lambda pair: -pair[0])
    return [nest for _, nest in weighed[:HOT]]


def parts(loop: Loop) -> list[int]:
    """Sizes of the inner part of a loop that fill it without a rest."""
    extent = loop.extent or 0
    return [part for part in PARTS if part < extent and extent % part == 0]


# ── inner ──


def inners(problem: Problem, kernel: Kernel) -> Iterator[Move]:
    """Vectors of an innermost loop, and its body written out several times."""
    lanes = problem.machine.lanes(kernel.out.type.dtype)
    for loop in innermost(kernel):
        var, extent = loop.var, loop.extent or 0
        vectors = any(inner.kind == "vector" for inner in loops(loop.body))
        if not vectors and not carried(loop):
            if 1 < extent <= 4 * lanes:
                yield _steps("inner", Vectorize(var))
            for width in (lanes, 2 * lanes, 4 * lanes):
                if 1 < width < extent:
                    yield _steps("inner", Split(var, width), Vectorize(f"{var}i"))
        if 1 < extent <= LONGEST:
            yield _steps("inner", Unroll(var))
        for part in parts(loop):
            yield _steps("inner", Split(var, part), Unroll(f"{var}i"))


def innermost(kernel: Kernel) -> list[Loop]:
    """The loops with no other one to run inside, those that run most often first."""
    weighed: list[tuple[int, Loop]] = []

    def visit(loop: Loop, times: int) -> None:
        times *= loop.extent or 1
        inside = [stmt for stmt in loop.body if isinstance(stmt, Loop)]
        if loop.kind == "for" and all(inner.kind != "for" for inner in loops(loop.body)):
            weighed.append((times * max(work(loop) // (loop.extent or 1), 1), loop))
        for inner in inside:
            visit(inner, times)

    for stmt in kernel.body:
        if isinstance(stmt, Loop):
            visit(stmt, 1)
    weighed.sort(key=lambda pair: -pair[0])
    return [loop for _, loop in weighed[:HOT]]


def work(loop: Loop) -> int:
    """How often the statements inside run, roughly: a ragged loop counts once."""
    inside = [stmt for stmt in loop.body if isinstance(stmt, Loop)]
    return (loop.extent or 1) * max(sum(map(work, inside)), 1)


# ── parallel ──


def parallels(kernel: Kernel) -> Iterator[Move]:
    """No threads; fewer, larger pieces; another loop outermost; two loops as one."""
    yield Move("parallel", lambda script: None)
    outermost = [stmt for stmt in kernel.body if isinstance(stmt, Loop)]
    if len(outermost) < len(kernel.body) or not outermost:
        return
    nest = [loop for loop in perfect_nest(max(outermost, key=work)) if loop.kind == "for"]
    names = [loop.var for loop in nest]
    for part in parts(nest[0]) if nest else ():
        yield _shared(f"{names[0]}o", Split(names[0], part))
    for at in range(1, len(nest)):
        yield _shared(names[at], Reorder((names[at], *names[:at])))
    if len(nest) > 1:
        name = "".join(names[:2])
        if name not in names_of(kernel):
            yield _shared(name, Fuse(names[0], names[1], name))


def _shared(var: str, *steps: Step) -> Move:
    """These steps; then the loop over `var` runs on several threads, and so do others outside."""

    def act(script: Script) -> None:
        script.do(*steps, Parallelize(var))
        parallel_outside(script)

    return Move("parallel", act)
