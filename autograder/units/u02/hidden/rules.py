"""Hidden checks of simplify and strength: all small expressions at once.

One program returns some hundred expressions of one or two operations, in every element type, and
runs on every pair of awkward numbers. Each result must keep every bit, and no expression may be
longer than ours: a rule too many changes a bit, a rule too few leaves an operation. For strength,
which replaces one operation by another, the operations must be those of ours. Next room: zeros.py.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, hidden
from autograder.check.meaning import meaning_of
from autograder.check.properties import valid_graph
from autograder.units.u02.checks.compare import cut, smallest
from autograder.units.u02.checks.shared import equal_bits
from autograder.units.u02.checks.simplify import APPLY, EXACT, MOVES
from autograder.units.u02.checks.strength import REPLACE, SAME
from autograder.units.u02.checks.untouched import each_of, every_pair, keeps_bits, length, number
from autograder.units.u02.hidden import expressions as of
from autograder.units.u02.hidden.cleaning import SEEDS
from autograder.units.u02.hidden.programs import told_once
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order

SEED = 20_641
OTHERS = ("f16", "f64", "i8", "i16", "i64", "u8", "u16", "u32", "u64")


@hidden("passes.simplify", seed=SEED, spec=[APPLY, EXACT])
def simplify_knows_every_small_expression(simplify):
    """All expressions of one or two operations, in each element type, on awkward numbers."""
    for kinds, make in ((("f32", "i32", "bool"), of.expressions), (OTHERS, of.few)):
        smallest(functools.partial(_as_short, simplify), of.program(kinds, make))
    return "every expression of one or two operations"


@hidden("passes.simplify", seed=SEED, given=SEEDS, examples=3, what="sets of random expressions",
        spec=EXACT)  # fmt: skip
@told_once
def simplify_changes_no_bit(simplify, seed):
    """Random expressions of three variables keep every bit."""
    for graph in of.random_trees(seed):
        smallest(functools.partial(keeps_bits, simplify), graph)


@hidden("passes.simplify", seed=SEED, given=SEEDS, examples=2, what="sets of movements",
        spec=[MOVES, APPLY, EXACT])  # fmt: skip
@told_once
def simplify_moves_as_it_should(simplify, seed):
    """Two and three movements in a row, in every element type: exact, and no longer than ours."""
    smallest(functools.partial(_as_short, simplify), of.movements(seed))


@hidden("passes.simplify", seed=SEED, spec=[MOVES, APPLY, EXACT])
def simplify_knows_every_two_movements(simplify):
    """A movement after a movement, in all combinations: exact, and no longer than ours."""
    smallest(functools.partial(_as_short, simplify), of.every_two())
    return "movements in a row"


@hidden("passes.simplify", seed=SEED, spec=APPLY)
def simplify_knows_numbers_and_unknown_sizes(simplify):
    """Values without axes, sizes that only the run knows, tensors without elements."""
    smallest(functools.partial(_not_longer, simplify), _other_shapes())
    return "sizes of 0, symbolic sizes, values without axes"


@functools.cache
def _other_shapes() -> Graph:
    inputs, outputs = [], []
    for kind in ("f32", "i32"):
        numbers = [number(n, kind) for n in of.NUMBERS]
        for shape in ("", "n,4", "0"):
            x, y = (inp(f"{name}_{kind}", f"{kind}[{shape}]") for name in "xy")
            outputs += each_of(of.BINARY, (x, x), *((x, n) for n in numbers))
            outputs += [apply("neg", apply("neg", x)), x - -y, apply("select", const(True), x, y)]
            inputs += [x, y]
        one = apply("reshape", inputs[-6], shape=(1, 1))  # an axis or two of size 1, and none
        outputs += [apply("reshape", one, shape=()), apply("transpose", one, perm=(1, 0))]
        outputs += [apply("transpose", outputs[-1], perm=(1, 0))]
    return Graph.of(inputs, outputs, "expressions")


Row = tuple[Node, Node, Node, list[str]]


def _beside_ours(name: str, answer: Any, graph: Graph) -> tuple[Graph, list[Row]]:
    """What the answer makes of a program; each output before, after, as ours, our operations."""
    after = valid_graph(answer(graph), graph)
    ours, ops = _ours(name, graph)
    return after, [*zip(graph.outputs, after.outputs, ours.outputs, ops, strict=True)]


@functools.lru_cache(maxsize=32)
def _ours(name: str, graph: Graph) -> tuple[Graph, list[list[str]]]:
    """What our pass makes of the program, and the operations of each of its outputs."""
    ours = slot(name).reference(graph)
    return ours, [_ops(node) for node in ours.outputs]


def _unlike_ours(problem: str, graph: Graph, after: Graph, row: Row, spec: str) -> Wrong:
    node, mine, best, _ = row
    return Wrong(f"{_line(node)} {problem}", program=cut(graph, [node]), spec=spec,
                 got=Graph.of(after.inputs, [mine], "part"),
                 expected=Graph.of(graph.inputs, [best], "part"))  # fmt: skip


def _as_short(simplify: Any, graph: Graph) -> None:
    after = _not_longer(simplify, graph)
    keeps_bits(lambda _: after, graph)


def _not_longer(simplify: Any, graph: Graph) -> Graph:
    after, rows = _beside_ours("passes.simplify", simplify, graph)
    longer = [row for row in rows if len(_ops(row[1])) > len(row[3])]
    for row in sorted(longer, key=length)[:1]:
        raise _unlike_ours("can be simpler: an identity still matches.", graph, after, row, APPLY)
    return after


@hidden("passes.strength", seed=SEED, spec=[REPLACE, SAME])
def strength_knows_every_small_expression(strength):
    """Divisions, powers and remainders by many numbers, in each element type."""
    graph = of.program(("f32", "i32", "f16", "f64", "i8", "u8"), of.quotients)
    smallest(functools.partial(_as_cheap, strength), graph)
    return "divisions, powers and remainders by many numbers"


def _as_cheap(strength: Any, graph: Graph) -> None:
    after, rows = _beside_ours("passes.strength", strength, graph)
    for row in sorted([row for row in rows if _ops(row[1]) != row[3]], key=length)[:1]:
        stays = row[3] == _ops(row[0])
        problem = "stays as it is." if stays else "is not replaced as the list says."
        raise _unlike_ours(problem, graph, after, row, REPLACE)
    meaning = meaning_of(graph, every_pair)
    values = [meaning.outputs_of(g) for g in (after, _ours("passes.strength", graph)[0])]
    for row, mine, theirs in zip(rows, *values, strict=True):
        rtol = 1e-3 if mine.dtype.itemsize == 2 else 1e-6
        close = np.isclose(mine, theirs, rtol=rtol, atol=0, equal_nan=True)
        apart = ~(close if "pow" in _ops(row[0]) else equal_bits(mine, theirs))
        if apart.any():
            problem = f"has another value: {mine[apart][0]} instead of {theirs[apart][0]}."
            raise _unlike_ours(problem, graph, after, row, SAME)


def _ops(node: Node) -> list[str]:
    needed = topological_order([node])
    return sorted(n.op for n in needed if n.op not in ("input", "constant", "expand"))


def _line(node: Node) -> str:
    """An expression in words: add(neg(%x), 1.0)."""
    if node.op == "input":
        return f"%{node.name}"
    if node.op == "constant":
        return f"{node.value.reshape(-1)[0]!s}" if node.value.size else "an empty constant"
    return f"{node.op}({', '.join(map(_line, node.inputs))})"
