"""Mutants and alternatives of unit 2: constant folding. Next room: merging.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import evaluate
from course_lib.ir.graph.node import const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.fold import SMALL

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


@mutant("passes.fold")
def sweeps_as_it_goes(graph):
    """Takes the operands away that nobody reads any more: that is dce."""
    after = _fold(graph, _is_small)
    return Graph.of(after.inputs, after.outputs, after.name)


@mutant("passes.fold")
def with_a_limit_of_its_own(graph):
    """1,024 bytes are small, it says. `SMALL` is another number."""

    def allowed(node, inputs):
        together = sum(i.type.nbytes for i in set(inputs))
        return node.type.is_static and node.type.nbytes <= max(1024, together)

    return _fold(graph, allowed)


@mutant("passes.fold")
def as_big_as_the_biggest_operand(graph):
    """Compares with the biggest operand instead of all of them together."""

    def allowed(node, inputs):
        biggest = max((i.type.nbytes for i in inputs), default=0)
        return node.type.is_static and node.type.nbytes <= max(SMALL, biggest)

    return _fold(graph, allowed)


@mutant("passes.fold")
def needs_an_operand(graph):
    """No operands, so none that is a constant: an iota stays."""
    return _fold(graph, lambda node, inputs: bool(inputs) and _is_small(node, inputs))


@mutant("passes.fold")
def without_a_name(graph):
    """The new constant has lost the name of its node."""
    after = _fold(graph, _is_small)
    old = {node.name for node in graph.nodes if node.op == "constant"}

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        return made if made.op != "constant" or node.name in old else replace(made, name="")

    return after.rebuild(visit)


@mutant("passes.fold")
def multiplies_by_zero(graph):
    """x * 0.0 is 0.0, it thinks, although one operand is no constant."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        zero = [i for i in inputs if i.op == "constant" and not i.value.any()]
        if node.op == "mul" and zero and node.type.is_static:
            return const(np.zeros(node.type.dims, node.type.dtype.numpy))
        return made

    return _fold(graph.rebuild(visit), _is_small)


@mutant("passes.fold")
def stops_at_infinity(graph):
    """1/0 is an error to it. The interpreter says infinity."""

    def finite(node, arrays):
        value = evaluate(node, arrays)
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError("not a number")
        return value

    return _fold(graph, _is_small, finite)


@mutant("passes.fold")
def makes_constants_anew(graph):
    """Computes the value of a small constant, too, and puts another node in its place."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "constant" and _is_small(made, inputs):
            return replace(const(made.value), name=made.name, origin=made.origin)
        return made

    return _fold(graph.rebuild(visit), _is_small)


@alternative("passes.fold")
def in_several_sweeps(graph):
    """One level in each sweep, until nothing changes."""
    while True:
        after = _fold(graph, _is_small, cascade=False)
        if len(after.ops) == len(graph.ops):
            return after
        graph = after


@alternative("passes.fold")
def with_a_table_of_values(graph):
    """Knows arrays, not nodes, and makes the constants at the end of each step."""
    values, new, nodes = {}, {}, []
    for node in graph.nodes:
        made = node.with_inputs([new[i] for i in node.inputs])
        if node.op == "constant":
            values[made] = node.value
        elif node.op != "input" and all(i in values for i in made.inputs):
            made = _computed(made, values)
        new[node] = made
        nodes.append(made)
    return Graph(graph.name, graph.inputs, tuple(nodes), tuple(new[o] for o in graph.outputs))


def _computed(node, values):
    if not _is_small(node, node.inputs):
        return node
    try:
        value = evaluate(node, [values[i] for i in node.inputs])
    except Exception:
        return node
    made = replace(const(value, name=node.name), origin=origins(*node.inputs, node))
    values[made] = made.value
    return made


@alternative("passes.fold")
def asks_before_it_computes(graph):
    """All conditions first, each on its own line."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        fixed = all(i.op == "constant" for i in inputs) and node.op not in ("input", "constant")
        if not fixed or not node.type.is_static:
            return made
        together = sum(i.type.nbytes for i in set(inputs))
        if node.type.nbytes > SMALL and node.type.nbytes > together:
            return made
        try:
            array = evaluate(made, [i.value for i in inputs])
        except Exception:
            return made
        return replace(const(array), name=made.name, origin=origins(node, *inputs))

    return graph.rebuild(visit)


@mutant("passes.fold")
def what_stays_keeps_its_operands(graph):
    """A node that is too big or has no value stays, it thinks, with the operands that it had."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "constant" or any(i.op != "constant" for i in inputs):
            return made
        try:
            value = evaluate(made, [i.value for i in inputs]) if _is_small(made, inputs) else None
        except IndexError:
            value = None
        if value is None:
            return node
        return replace(const(value), name=node.name, origin=origins(made, *inputs))

    return graph.rebuild(visit)


@mutant("passes.fold")
def and_what_does_nothing(graph):
    """Takes x * 1 away as well, for one of its operands is a constant."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "mul" and inputs[1].op == "constant" and inputs[0].type == node.type:
            return inputs[0] if (inputs[1].value == 1).all() else made
        return made

    return _fold(graph.rebuild(visit), _is_small)


@mutant("passes.fold")
def four_bytes_for_each_element(graph):
    """`SMALL` is 1,024 elements to it, whatever their type."""

    def allowed(node, inputs):
        together = sum(i.type.numel for i in set(inputs))
        return node.type.is_static and 4 * node.type.numel <= max(SMALL, 4 * together)

    return _fold(graph, allowed)


@mutant("passes.fold")
def no_more_elements_than_before(graph):
    """Small is counted in bytes, and the operands in elements: a cast to f64 is no growth to it."""

    def allowed(node, inputs):
        if not node.type.is_static:
            return False
        return node.type.nbytes <= SMALL or node.type.numel <= sum(
            i.value.size for i in set(inputs)
        )

    return _fold(graph, allowed)


@mutant("passes.fold")
def as_big_as_two_operands(graph):
    """Adds the sizes of the first two operands; a concat has more."""
    return _fold(graph, lambda node, inputs: _is_small(node, inputs[:2]))


@mutant("passes.fold")
def sizes_of_the_old_operands(graph):
    """Looks at the operands as they were, and knows the size of constants only."""

    def visit(node, inputs):
        made = node.with_inputs(inputs)
        if node.op == "constant" or any(i.op != "constant" for i in inputs):
            return made
        if not _is_small(made, [i for i in node.inputs if i.op == "constant"]):
            return made
        try:
            value = evaluate(made, [i.value for i in inputs])
        except IndexError:
            return made
        return replace(const(value), name=node.name, origin=origins(made, *inputs))

    return graph.rebuild(visit)


@mutant("passes.fold")
def whole_numbers_as_floats(graph):
    """Numbers are floats to it; an i64 beyond 2**53 is another number then."""

    def rounded(node, arrays):
        value = evaluate(node, arrays)
        return value.astype(np.float64).astype(value.dtype) if value.dtype.kind in "iu" else value

    return _fold(graph, _is_small, rounded)


@mutant("passes.fold")
def by_lists_of_numbers(graph):
    """Makes the constant from a list, and a Python float becomes an f32."""
    return _fold(
        graph, _is_small, lambda node, arrays: const(evaluate(node, arrays).tolist()).value
    )


@mutant("passes.fold")
def origins_of_two_operands(graph):
    return _fold(graph, _is_small, origin=lambda made, *inputs: origins(made, *inputs[:2]))


@mutant("passes.fold")
def up_to_four_operands(graph):
    """Nothing that it knows has more."""
    return _fold(graph, lambda node, inputs: len(inputs) <= 4 and _is_small(node, inputs))


@mutant("passes.fold")
def stops_at_the_first_error(graph):
    """Folds up to the node that has no value, and nothing behind it."""
    failed = []

    def first_error(node, arrays):
        if failed:
            raise IndexError("there was one before")
        try:
            return evaluate(node, arrays)
        except IndexError:
            failed.append(node)
            raise

    return _fold(graph, _is_small, first_error)


equivalent(
    "passes.fold", "except (ValueError, TypeError", "IndexError",
    because="of all ops of the table, an index out of range is what raises",
)  # fmt: skip
