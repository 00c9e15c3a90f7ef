"""Mutants and alternatives of unit 2: dead code, constant folding, common subexpressions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import evaluate
from course_lib.ir.graph.node import const
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.fold import SMALL
from course_lib.passes.infra.match import COMMUTATIVE

# ── passes.dce ──


@mutant("passes.dce")
def one_sweep(graph):
    """Removes what has no user, once: the chain behind it stays."""
    users = graph.users()
    kept = [n for n in graph.nodes if users[n] or n in graph.outputs or n.op == "input"]
    return replace(graph, nodes=tuple(kept))


@mutant("passes.dce")
def drops_unused_inputs(graph):
    live = topological_order(graph.outputs)
    return replace(graph, inputs=tuple(n for n in graph.inputs if n in live), nodes=tuple(live))


@mutant("passes.dce")
def keeps_constants(graph):
    live = set(topological_order(graph.outputs))
    kept = [n for n in graph.nodes if n in live or n.op in ("input", "constant")]
    return replace(graph, nodes=tuple(kept))


@mutant("passes.dce")
def recursive(graph):
    live = set(graph.inputs)

    def visit(node):
        if node not in live:
            live.add(node)
            for operand in node.inputs:
                visit(operand)

    for output in graph.outputs:
        visit(output)
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


@mutant("passes.dce")
def does_nothing(graph):
    return graph


@alternative("passes.dce")
def by_order_from_the_outputs(graph):
    return Graph.of(graph.inputs, graph.outputs, graph.name)


@alternative("passes.dce")
def with_a_worklist(graph):
    live, todo = set(graph.inputs), list(graph.outputs)
    while todo:
        node = todo.pop()
        if node not in live:
            live.add(node)
            todo += node.inputs
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in live))


# ── passes.fold ──


def _fold(
    graph, allowed=lambda node, inputs: True, value_of=evaluate, cascade=True, origin=origins
):
    def visit(node, inputs):
        made = node.with_inputs(inputs)
        operands = inputs if cascade else node.inputs
        if node.op == "constant" or any(i.op != "constant" for i in operands):
            return made
        if not allowed(made, inputs):
            return made
        try:
            value = value_of(made, [i.value for i in inputs])
        except (ValueError, TypeError, IndexError, ArithmeticError):
            return made
        return replace(const(value), name=node.name, origin=origin(made, *inputs))

    return graph.rebuild(visit)


def _is_small(node, inputs):
    if not node.type.is_static:
        return False
    return node.type.nbytes <= max(SMALL, sum(i.type.nbytes for i in set(inputs)))


@mutant("passes.fold")
def no_cascade(graph):
    return _fold(graph, _is_small, cascade=False)


@mutant("passes.fold")
def however_big(graph):
    return _fold(graph, lambda node, inputs: node.type.is_static)


@mutant("passes.fold")
def only_small(graph):
    return _fold(graph, lambda node, inputs: node.type.is_static and node.type.nbytes <= SMALL)


@mutant("passes.fold")
def in_double_precision(graph):
    def wide(node, arrays):
        wide = [a.astype(np.float64) if a.dtype == np.float32 else a for a in arrays]
        return np.float32(np.round(evaluate(node, wide), 6))

    return _fold(graph, _is_small, wide)


@mutant("passes.fold")
def forgets_origins(graph):
    return _fold(graph, _is_small, origin=lambda *nodes: ())


@mutant("passes.fold")
def lets_errors_out(graph):
    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "constant" or any(i.op != "constant" for i in inputs):
            return made
        if not _is_small(made, inputs):
            return made
        value = evaluate(made, [i.value for i in inputs])
        return replace(const(value), name=node.name, origin=origins(made, *inputs))

    return graph.rebuild(visit)


@alternative("passes.fold")
def in_several_sweeps_and_clean(graph):
    """One level in each sweep, until nothing changes; takes dead nodes out as it goes."""
    for _ in range(100):
        after = _fold(graph, _is_small, cascade=False)
        after = Graph.of(after.inputs, after.outputs, after.name)
        if len(after.ops) == len(graph.ops):
            return after
        graph = after
    return graph


@alternative("passes.fold")
def less_eager_with_big_constants(graph):
    """Also fine: keeps only what does not grow the program, or is small."""

    def allowed(node, inputs):
        return node.type.is_static and (
            node.type.nbytes <= 1024 or node.type.nbytes <= sum(i.type.nbytes for i in set(inputs))
        )

    return _fold(graph, allowed)


# ── passes.cse ──


def _bytes(value):
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    return repr(value)


def _cse(graph, commutative=COMMUTATIVE, attrs=_bytes, use_attrs=True, chains=True):
    number, first = {n: k for k, n in enumerate(graph.inputs)}, {}
    old_number = {n: k for k, n in enumerate(graph.nodes)}

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        operands = [number[i] for i in inputs] if chains else [old_number[i] for i in node.inputs]
        if commutative is None or node.op in commutative:
            operands.sort()
        key = tuple((k, attrs(v)) for k, v in node.attrs.items())
        if not use_attrs and node.op != "constant":
            key = ()
        kept = first.setdefault((node.op, tuple(operands), key, node.type), made)
        number.setdefault(kept, len(number) + 10_000)
        return kept

    return graph.rebuild(visit)


@mutant("passes.cse")
def everything_commutes(graph):
    return _cse(graph, commutative=None)


@mutant("passes.cse")
def nothing_commutes(graph):
    return _cse(graph, commutative=())


@mutant("passes.cse")
def ignores_attributes(graph):
    return _cse(graph, use_attrs=False)


@mutant("passes.cse")
def compares_numbers(graph):
    """0.0 == -0.0."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, tuple(value.ravel().tolist()))
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def by_printed_constants(graph):
    """Looks at the first elements of a constant only."""

    def key(value):
        if isinstance(value, np.ndarray):
            return (str(value.dtype), value.shape, repr(value.ravel()[:1].tolist()))
        return repr(value)

    return _cse(graph, attrs=key)


@mutant("passes.cse")
def only_one_level(graph):
    return _cse(graph, chains=False)


@alternative("passes.cse")
def all_pairs(graph):
    """Quadratic, with a list; leaves the merged-away nodes behind, dead."""
    kept, new, nodes = [], {}, []
    for node in graph.nodes:
        inputs = tuple(new[i] for i in node.inputs)
        made = node if node.op == "input" else node.with_inputs(inputs)
        twin = next((k for k in kept if node.op != "input" and _alike(k, made)), None)
        new[node] = twin or made
        if twin is None:
            kept.append(made)
            nodes.append(made)
    return Graph(graph.name, graph.inputs, tuple(nodes), tuple(new[n] for n in graph.outputs))


def _alike(a, b):
    if (a.op, a.type) != (b.op, b.type):
        return False
    turned = a.op in COMMUTATIVE and a.inputs == b.inputs[::-1]
    if a.inputs != b.inputs and not turned:
        return False
    return {k: _bytes(v) for k, v in a.attrs.items()} == {k: _bytes(v) for k, v in b.attrs.items()}


@alternative("passes.cse")
def and_swept(graph):
    """Merges, then keeps what the outputs need, in another order."""
    after = _cse(graph)
    return Graph.of(after.inputs, after.outputs, after.name)
