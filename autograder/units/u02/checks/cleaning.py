"""Checks of unit 2 for dead-code elimination and constant folding. Next room: cse.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.programs import deep, graphs
from autograder.check.properties import live, live_ops, same_meaning, valid_graph
from autograder.units.u02.checks.shared import on_deep, same_bits, stays
from course_lib.ir.graph.build import exp, expand, neg, relu, sqrt, tanh, trace, transpose
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import Sym, TensorType, f32

# ── passes.dce ──


@checks("passes.dce", spec="An input stays even if nobody reads it")
def dce_keeps_unused_inputs(dce):
    """Inputs stay, in their order, needed or not."""
    before = trace(lambda x, y, z: relu(y), "f32[4]", "f32[4]", "f32[4]")
    after = valid_graph(dce(before), before)
    if after.inputs != before.inputs:
        raise Wrong(
            "The inputs are the ones of the program, in their order.", program=before, got=after
        )
    return "inputs that nobody reads"


@checks("passes.dce")
def dce_sweeps_chains_and_constants(dce):
    """A chain of dead nodes goes all along, with the constants that it reads."""
    graph = trace(lambda x: relu(x), "f32[4]")
    (x,) = graph.inputs
    for dead, spec in (
        ([y := exp(x), neg(y)], "in a chain of dead nodes each one but the last has a user"),
        ([c := const(3.0), x * c], "Constants are nodes like any other: a dead constant goes"),
    ):
        before = Graph("main", graph.inputs, (x, *dead, *graph.ops), graph.outputs)
        _nothing_dead(before, dce(before), spec)
    return "dead chains, dead constants"


@checks("passes.dce", given=graphs(size=8), examples=40)
def dce_keeps_the_meaning(dce, graph):
    """The result computes what the program computes."""
    same_meaning(graph, dce(graph))


@checks("passes.dce", given=graphs(size=6), examples=40)
def dce_leaves_nothing_dead(dce, graph):
    """No dead node is left, neither operation nor constant."""
    _nothing_dead(graph, dce(graph), "Remove every node that no output depends on")


def _nothing_dead(graph: Graph, result: Any, spec: str) -> None:
    after = valid_graph(result, graph)
    needed = set(topological_order(after.outputs)) | set(after.inputs)
    dead = [n for n in after.nodes if n not in needed]
    if dead:
        names = value_names(after)
        raise Wrong(
            f"No dead node is left. Nothing that is returned needs %{names[dead[0]]}.",
            program=graph,
            got=after,
            marked=tuple(names[n] for n in dead),
            spec=spec,
        )


@checks("passes.dce", spec="without recursion")
def dce_takes_deep_programs(dce):
    """2,000 operations in a row, one dead one beside them."""
    graph = deep()
    beside = Graph(graph.name, graph.inputs, (*graph.nodes, neg(graph.inputs[0])), graph.outputs)
    if len(on_deep(dce, beside).ops) != len(graph.ops):
        raise Wrong("Of 2,001 operations one is dead, and 2,000 are left.", program="a long chain")
    return "2,001 operations in a row"


# ── passes.fold ──


@checks("passes.fold", spec="a node whose operands were just folded is folded too")
def fold_cascades(fold):
    """A chain of operations on constants becomes one constant."""
    sqrt_of = sqrt(const(2.0) + const(3.0))
    before = trace(lambda x: x * tanh(sqrt_of), "f32[4]")
    after = same_bits(before, fold(before), spec="The value is the interpreter's")
    left = [n for n in live_ops(after) if n.op != "mul"]
    if left:
        names = value_names(after)
        raise Wrong(
            f"Everything but the mul can be computed now. %{names[left[0]]} is still computed "
            "when the program runs.",
            program=before,
            got=after,
            marked=tuple(names[n] for n in left),
        )
    return "a chain"


@checks("passes.fold", spec="The value is the interpreter's")
def fold_keeps_the_element_type(fold):
    """The sum of two i32 is an i32."""
    before = trace(lambda x: x * (const(2, "i32") + const(3, "i32")), "i32[4]")
    same_bits(before, fold(before))
    return "integers"


@checks("passes.fold", given=graphs(size=8), examples=40, spec="The value is the interpreter's")
def fold_keeps_every_bit(fold, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(graph, fold(graph))


@checks("passes.fold", given=graphs(size=6), examples=60, spec="Folding cascades")
def fold_leaves_nothing_to_compute(fold, graph):
    """No operation is left whose operands are all constants."""
    after = valid_graph(fold(graph), graph)
    for node in live_ops(after):
        if all(i.op == "constant" for i in node.inputs):
            name = value_names(after)[node]
            raise Wrong(
                f"No operation on constants alone is left. %{name} can be computed now.",
                program=graph,
                got=after,
                marked=(name,),
            )


@checks("passes.fold", spec="if its result is big")
def fold_keeps_big_results_out(fold):
    """A small constant is not blown up; a weight that only moves is folded."""
    grows = trace(lambda x: x * expand(const(1.0), (512, 512)), "f32[512,512]")
    stays(
        fold,
        grows,
        "Folding this would put 1 MB into the program to save nothing: it stays.",
        spec="if its result is big: more than `SMALL` bytes and more bytes than its operands have",
    )
    weight = const(np.arange(8192, dtype=np.float32).reshape(64, 128))
    moves = trace(lambda x: x @ transpose(weight, (1, 0)), "f32[2,128]")
    after = same_meaning(moves, fold(moves))
    if len(live_ops(after)) != 1:
        raise Wrong(
            "The transposed weight is no bigger than the weight: it is computed now.",
            program=moves,
            got=after,
            spec="more than `SMALL` bytes and more bytes than its operands have together",
        )
    return "big results, weights that move"


@checks("passes.fold", spec="if computing it raises: element 7 of an i32[2] has no value")
def fold_survives_what_has_no_value(fold):
    """Element 7 of an i32[2] raises when it is computed, and stays in the program."""
    beyond = apply("gather", const([1, 2], "i32"), const([7], "i64"), axis=0)
    before = trace(lambda x: x + beyond, "i32[4]")
    after = valid_graph(fold(before), before)
    if not any(n.op == "gather" for n in after.nodes):
        raise Wrong(
            "Element 7 of an i32[2] has no value. The node stays as it is.",
            program=before,
            got=after,
        )
    return "what has no value"


@checks("passes.fold", spec="if its size is not known yet (a symbolic shape)")
def fold_leaves_symbolic_sizes(fold):
    """An expand to a size that only the run knows stays."""
    n = Sym.named("n")
    x = inp("x", TensorType(f32, (n, 4)))
    before = Graph.of([x], [x * expand(const(2.0), (n, 4))], "main")
    after = valid_graph(fold(before), before)
    if len(live_ops(after)) != 2:
        raise Wrong("f32[n,4] has no size yet: the expand stays.", program=before, got=after)
    return "symbolic sizes"


@checks(
    "passes.fold", spec="keeps the node's name, and the origins of the node and of its operands"
)
def fold_remembers_where_it_came_from(fold):
    """The new constant names every line of the model that it stands for."""
    a = apply("add", const(1.0), const(2.0), name="three", origin=("layer1",))
    b = apply("mul", a, const(2.0), name="six", origin=("layer2",))
    before = trace(lambda x: x * b, "f32[4]")
    after = same_meaning(before, fold(before))
    made = next((n for n in live(after) if n.op == "constant"), None)
    if made is None or set(made.origin) != {"layer1", "layer2"}:
        said = "nothing" if made is None else ", ".join(made.origin) or "nothing"
        raise Wrong(
            f"The folded constant comes from layer1 and layer2; yours says {said}.",
            program=before,
            got=after,
        )
    return "origins"
