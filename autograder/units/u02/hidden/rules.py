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
from autograder.units.u02.hidden.cleaning import SEEDS
from autograder.units.u02.hidden.expressions import (
    BINARY,
    NUMBERS,
    applied,
    expressions,
    few,
    filled,
    given,
    program,
    random_trees,
    some,
)
from autograder.units.u02.hidden.movement import every_two, movements
from autograder.units.u02.hidden.programs import told_once
from autograder.units.u02.hidden.quotients import quotients
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order

SEED = 20_641


@hidden("passes.simplify", seed=SEED, spec=[APPLY, EXACT])
def simplify_knows_every_small_expression(simplify):
    """All expressions of one or two operations, in each element type, on awkward numbers."""
    others = ("f16", "f64", "i8", "i16", "i64", "u8", "u16", "u32", "u64")
    for kinds, make in ((("f32", "i32", "bool"), expressions), (others, few)):
        smallest(functools.partial(_as_short, simplify), program(kinds, make))
    return "every expression of one or two operations"


@hidden("passes.simplify", seed=SEED, given=SEEDS, examples=3, what="sets of random expressions",
        spec=EXACT)  # fmt: skip
@told_once
def simplify_changes_no_bit(simplify, seed):
    """Random expressions of three variables keep every bit."""

    def keeps(graph: Graph) -> None:
        _same_bits(graph, valid_graph(simplify(graph), graph))

    for graph in random_trees(seed):
        smallest(keeps, graph)


@hidden("passes.simplify", seed=SEED, given=SEEDS, examples=2, what="sets of movements",
        spec=[MOVES, APPLY, EXACT])  # fmt: skip
@told_once
def simplify_moves_as_it_should(simplify, seed):
    """Two and three movements in a row, in every element type: exact, and no longer than ours."""
    smallest(functools.partial(_as_short, simplify), movements(seed))


@hidden("passes.simplify", seed=SEED, spec=[MOVES, APPLY, EXACT])
def simplify_knows_every_two_movements(simplify):
    """A movement after a movement, in all combinations: exact, and no longer than ours."""
    smallest(functools.partial(_as_short, simplify), every_two())
    return "movements in a row"


@hidden("passes.simplify", seed=SEED, spec=APPLY)
def simplify_knows_numbers_and_unknown_sizes(simplify):
    """Values without axes, sizes that only the run knows, tensors without elements."""
    graph = _other_shapes()
    smallest(lambda part: _not_longer(simplify, part), graph)
    return "sizes of 0, symbolic sizes, values without axes"


@functools.cache
def _other_shapes() -> Graph:
    inputs, outputs = [], []
    for kind in ("f32", "i32"):
        for shape in ("", "n,4", "0"):
            x, y = (inp(f"{name}_{kind}", f"{kind}[{shape}]") for name in "xy")
            for op in BINARY:
                for a, b in ((x, x), *((x, filled(n, kind, ())) for n in NUMBERS)):
                    outputs += some(applied(op, a, b))
            outputs += [apply("neg", apply("neg", x)), x - -y, apply("select", const(True), x, y)]
            inputs += [x, y]
        one = apply("reshape", inputs[-6], shape=(1, 1))  # an axis or two of size 1, and none
        outputs += [apply("reshape", one, shape=()), apply("transpose", one, perm=(1, 0))]
        outputs += [apply("transpose", outputs[-1], perm=(1, 0))]
    return Graph.of(inputs, outputs, "expressions")


def _as_short(simplify: Any, graph: Graph) -> None:
    _same_bits(graph, _not_longer(simplify, graph))


def _not_longer(simplify: Any, graph: Graph) -> Graph:
    after = valid_graph(simplify(graph), graph)
    ours, lengths = _ours("passes.simplify", graph)
    rows = zip(graph.outputs, after.outputs, ours.outputs, lengths, strict=True)
    longer = [row for row in rows if len(_ops(row[1])) > len(row[3])]
    for node, mine, best, _ in sorted(longer, key=_length)[:1]:
        raise Wrong(
            f"An identity still matches here: {_line(node)} can be simpler.",
            program=cut(graph, [node]),
            got=Graph.of(after.inputs, [mine], "part"),
            expected=Graph.of(ours.inputs, [best], "part"),
            spec=APPLY,
        )
    return after


def _length(row: Any) -> int:
    return len(topological_order([row[0]]))


@functools.lru_cache(maxsize=32)
def _ours(name: str, graph: Graph) -> tuple[Graph, list[list[str]]]:
    """What our pass makes of the program, and the operations of each of its outputs."""
    ours = slot(name).reference(graph)
    return ours, [_ops(node) for node in ours.outputs]


@hidden("passes.strength", seed=SEED, spec=[REPLACE, SAME])
def strength_knows_every_small_expression(strength):
    """Divisions, powers and remainders by many numbers, in each element type."""
    graph = program(("f32", "i32", "f16", "f64", "i8", "u8"), quotients)
    smallest(functools.partial(_as_cheap, strength), graph)
    return "divisions, powers and remainders by many numbers"


def _as_cheap(strength: Any, graph: Graph) -> None:
    after = valid_graph(strength(graph), graph)
    ours, wanted_ops = _ours("passes.strength", graph)
    rows = zip(graph.outputs, after.outputs, ours.outputs, wanted_ops, strict=True)
    others = [row for row in rows if _ops(row[1]) != row[3]]
    for node, mine, best, ops in sorted(others, key=_length)[:1]:
        stays = ops == _ops(node)
        raise Wrong(
            f"{_line(node)} {'stays as it is' if stays else 'is not replaced as the list says'}.",
            program=cut(graph, [node]),
            got=Graph.of(after.inputs, [mine], "part"),
            expected=Graph.of(ours.inputs, [best], "part"),
            spec=REPLACE,
        )
    meaning = meaning_of(graph, given)
    got, wanted = meaning.outputs_of(after), meaning.outputs_of(ours)
    for node, mine, theirs, best in zip(graph.outputs, got, wanted, ours.outputs, strict=True):
        rough = "pow" in _ops(node)
        apart = ~(np.isclose(mine, theirs, rtol=1e-3 if mine.dtype.itemsize == 2 else 1e-6, atol=0,
                             equal_nan=True) if rough else equal_bits(mine, theirs))  # fmt: skip
        if apart.any():
            raise Wrong(
                f"{_line(node)} has another value: {mine[apart][0]} instead of {theirs[apart][0]}.",
                program=cut(graph, [node]),
                got=after if len(graph.outputs) == 1 else "",
                expected=Graph.of(ours.inputs, [best], "part"),
                spec=SAME,
            )


def _same_bits(before: Graph, after: Graph) -> None:
    meaning = meaning_of(before, given)
    inputs = meaning.inputs
    rows = zip(before.outputs, meaning.outputs_of(after), meaning.outputs, strict=True)
    apart = [row for row in rows if not equal_bits(row[1], row[2]).all()]
    for node, got, wanted in sorted(apart, key=_length)[:1]:
        where = np.flatnonzero(~equal_bits(got, wanted).reshape(-1))[0]
        needed = topological_order([node])
        numbers = [
            f"%{i.name} = {v[where % len(v)]!s}"
            for i, v in zip(before.inputs, inputs, strict=True)
            if i in needed
        ]
        raise Wrong(
            f"The result is the same bit for bit. {_line(node)} is {got.reshape(-1)[where]!s} "
            f"instead of {wanted.reshape(-1)[where]!s}, for {', '.join(numbers)}.",
            program=cut(before, [node]),
            got=after if len(before.outputs) == 1 else "",
            spec=EXACT,
        )


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
