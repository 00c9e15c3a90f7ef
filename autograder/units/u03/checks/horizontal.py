"""Checks of unit 3 for `passes.horizontal`: products that share an operand become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong, checks
from autograder.check.properties import live_ops, same_meaning
from autograder.units.u03.checks.horizontal_cases import (
    families,
    first,
    flat,
    left_alone,
    moved,
    product,
)
from course_lib.ir.graph.build import relu, reshape, transpose
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.order import topological_order

MERGED = (
    *("Merge matrix products of one operand", "n >= 2", "y = matmul(x, concat(w_0 .. w_n-1))"),
    *("concat(w_0 .. w_n-1)", "concat(b_0 .. b_n-1)", "`branches(graph)` finds the candidates"),
    *("products by a constant matrix", "with the constant bias if", "x may have batch axes"),
    *("x may have batch axes in front", "Merged are those that read the same node"),
    *("all have a bias or all have none", "Adding a bias of zeros instead"),
    "whose results are only moved next",
    *("what is replaced stays behind for `dce`", "The results are the same numbers"),
)


@checks("passes.horizontal", spec=MERGED)
def horizontal_merges_siblings(horizontal):
    """Two, three, with a bias, of different widths: one product."""
    x = inp("x", "f32[4,6]")
    plain = [moved(product(x, n, n)) for n in (2, 3)]
    three = [moved(product(x, n, n)) for n in (2, 1, 3)]
    biased = [moved(product(x, n, n, bias=True)) for n in (2, 3)]
    for ends, sums in ((plain, 0), (three, 0), (biased, 1)):
        before = Graph.of([x], ends, "siblings")
        _products(before, horizontal(before), 1, "y = matmul(x, concat(w_0 .. w_n-1))", sums)
    return "siblings of different widths"


@checks("passes.horizontal", spec="Merged are those that read the same node")
def horizontal_merges_what_reads_a_merged_one(horizontal):
    """Two families, of which the second reads what the first makes."""
    x = inp("x", "f32[4,6]")
    first, other = (moved(product(x, 3, k)) for k in (1, 2))
    h = relu(first)
    before = Graph.of([x], [other, *(moved(product(h, n, n)) for n in (2, 5))], "stacked")
    after = same_meaning(before, horizontal(before))
    if _count(after) > 2:
        raise Wrong(
            f"Two families must become two products, not {_count(after)}. A merged product "
            "that reads a node of the old graph keeps what that node needs alive: take its x from "
            "`inputs`.",
            program=before,
            got=after,
        )
    return "two families, one behind the other"


@checks("passes.horizontal", given=families(), examples=30, spec=MERGED)
def horizontal_makes_one_product_of_each_family(horizontal, graph):
    """As many products are left as there are families, and the results are the same."""
    keys, alone, sums = set(), 0, 0
    for end in graph.outputs:
        y = end.inputs[0]
        matmul = y if y.op == "matmul" else next(i for i in y.inputs if i.op == "matmul")
        if end.op != "relu":
            keys.add((matmul.inputs[0], y is matmul))
        else:
            alone, sums = alone + 1, sums + (y is not matmul)
    sums += sum(not bare for _, bare in keys)
    result = horizontal(graph)
    _products(graph, result, len(keys) + alone, "all have a bias or all have none", sums)


@checks("passes.horizontal", spec=MERGED)
def horizontal_leaves_the_rest(horizontal):
    """Other operands, other weights, activations behind: nothing to merge."""
    cases = left_alone()
    for before, problem, spec in cases:
        after = same_meaning(before, horizontal(before), spec=spec)
        mine, ours = (Counter(node.op for node in live_ops(g)) for g in (after, before))
        if mine != ours:
            raise Wrong(
                f"{problem} There is nothing to merge, so everything must stay: {_counted(ours)}. "
                f"The result has {_counted(mine)}.",
                program=before,
                got=after,
                spec=spec,
            )
    return f"{len(cases)} programs with nothing to merge"


REWRITTEN = "moves each slice behind the reshape"


@checks("passes.horizontal", spec=REWRITTEN)
def horizontal_moves_slices_behind_reshapes(horizontal):
    """Three projections of two heads each: nothing has to copy a slice."""
    x = inp("x", "f32[4,6]")
    ends = [transpose(reshape(product(x, 4, k), (4, 2, 2)), (1, 0, 2)) for k in (1, 2, 3)]
    before = Graph.of([x], ends, "heads")
    after = same_meaning(before, horizontal(before))
    if _count(after) != 1:
        raise Wrong(
            "Three products of x must become one.", program=before, got=after, spec=REWRITTEN
        )
    for node in topological_order(after.outputs):
        if node.op == "reshape" and node.inputs[0].op == "slice":
            raise Wrong(
                "No reshape may read a slice, which would have to be copied. Split all columns "
                "into heads first, and slice the heads.",
                program=before,
                got=after,
                marked=(value_names(after)[node],),
                spec=REWRITTEN,
            )
    return "two heads of three projections"


ORIGINS = "The merged products carry the origins of all branches, and each slice at least those"


@checks("passes.horizontal", spec=[ORIGINS, "each slice at least those of its own end"])
def horizontal_remembers_where_it_came_from(horizontal):
    """The merged product and the merged sum name all layers and biases that they compute."""
    x = inp("x", "f32[4,6]")
    ends, every = [], set()
    for k in (1, 2, 3):
        end = product(x, 2, k, bias=True)
        matmul, numbers = sorted(end.inputs, key=lambda node: node.op == "constant")
        matmul = replace(matmul, origin=(f"layer{k}.product",))
        ends.append(replace(matmul + numbers, origin=(f"layer{k}.bias",)))
        every |= {f"layer{k}.product", f"layer{k}.bias"}
    before = Graph.of([x], [moved(end) for end in ends], "origins")
    after = same_meaning(before, horizontal(before))
    for node in topological_order(after.outputs):
        if node.op in ("matmul", "add") and not every <= set(node.origin):
            raise Wrong(
                f"This {node.op} must name all branches, {', '.join(sorted(every))}; it says "
                f"{', '.join(node.origin) or 'nothing'}.",
                program=before,
                got=after,
                marked=(value_names(after)[node],),
            )
    for k, output in enumerate(after.outputs, 1):
        for node in topological_order([output]):
            if node.op == "slice" and f"layer{k}.bias" not in node.origin:
                raise Wrong(
                    f"This slice must name layer{k}.bias, whose place it takes; it says "
                    f"{', '.join(node.origin) or 'nothing'}.",
                    program=before,
                    got=after,
                    marked=(value_names(after)[node],),
                    spec="each slice at least those of its own end",
                )
    return "the names of the layers, kept"


@checks("passes.horizontal", spec=MERGED)
def horizontal_takes_odd_families(horizontal):
    """One weight for two operands, a hundred siblings, empty batches, half precision."""
    x, y = inp("x", "f32[2,3]"), inp("y", "f32[2,3]")
    w, v = (const(np.arange(6, dtype=np.float32).reshape(3, 2) - k) for k in (0, 2))
    shared = Graph.of([x, y], [moved(o @ m) for m in (w, v) for o in (x, y)], "shared")
    _products(shared, horizontal(shared), 2, "Merged are those that read the same node")
    some = Graph.of([x], [moved(x @ w), relu(x @ w), moved(x @ v)], "some")
    _products(some, horizontal(some), 2, "whose results are only moved next")
    ends = [moved(product(x, 2, k) + const(np.full(2, k, np.float32))) for k in (0, 1)]
    _products(Graph.of([x], ends), horizontal(Graph.of([x], ends)), 1, "all have a bias")
    zeros = [moved(product(x, 2, k) + const(np.zeros(2, np.float32))) for k in (0, 1)]
    _products(Graph.of([x], zeros), horizontal(Graph.of([x], zeros)), 1, "all have a bias", 1)
    again = Graph.of([x], [moved(x @ w), first(y0 := x @ w), moved(y0), flat(x @ v)], "again")
    _products(again, horizontal(again), 1, "concat(w_0 .. w_n-1)", 0)
    rest = [relu(x), relu(x), moved(moved(x)), relu(relu(x)), reshape(x, (2, 3)), x * 1.0, x + 0.0]
    with_others = Graph.of([x], [moved(x @ w), moved(x @ v), *rest], "others")
    _products(with_others, horizontal(with_others), 1, "Merge matrix products of one operand")
    many = Graph.of([x], [moved(product(x, 1 + k % 3, k)) for k in range(100)], "many")
    _products(many, horizontal(many), 1, "concat(w_0 .. w_n-1)")
    for kind in ("f16[2,3]", "f32[0,3]", "f32[2,0,3]"):
        z = inp("z", kind)
        before = Graph.of([z], [moved(product(z, 2, k, bias=True)) for k in (1, 2)], "odd")
        _products(before, horizontal(before), 1, "x may have batch axes in front")
    return "shared weights, a hundred siblings, empty batches"


@checks("passes.horizontal", spec="what is replaced stays behind for `dce`")
def horizontal_works_in_the_compiler(horizontal):
    """Two heads of three projections, compiled with this pass in its place."""
    x = inp("x", "f32[4,6]")
    q, k, v = (reshape(product(x, 4, n, bias=True), (4, 2, 2)) for n in (1, 2, 3))
    q, k, v = (transpose(q, (1, 0, 2)), transpose(k, (1, 2, 0)), transpose(v, (1, 0, 2)))
    before = Graph.of([x], [apply("softmax", (q @ k) * 0.125) @ v], "attention")
    program = works_in_the_compiler("passes.horizontal", horizontal, before)
    return f"compiled to {len(program.steps)} kernels"


def _products(before: Graph, result: Any, wanted: int, spec: str, sums: int = -1) -> None:
    """The result means the same, in `wanted` products and (if known) `sums` additions, and nothing
    else has changed."""
    rtol = 1e-12 if before.inputs[0].type.dtype.name == "f64" else 1e-4
    after = same_meaning(before, result, rtol=rtol, spec=spec)
    if _count(after) != wanted:
        raise Wrong(
            f"{wanted} of the {_count(before)} products must be left, not {_count(after)}.",
            program=before,
            got=after,
            spec=spec,
        )
    columns, wanted = _columns(after), _columns(before)
    if columns != wanted:
        raise Wrong(
            f"Together the products must have {wanted} columns; they have {columns}.",
            program=before,
            got=after,
            spec="concat(w_0 .. w_n-1)",
        )
    mine = Counter(node.op for node in live_ops(after))
    if sums not in (-1, mine["add"]):
        why = "The biases of a family must become one" if sums else "No product has a bias"
        raise Wrong(
            f"{why}, so {sums or 'no'} addition{'s' * (sums != 1)} must be left, not "
            f"{mine['add']}.",
            program=before,
            got=after,
            spec="concat(b_0 .. b_n-1)",
        )
    _rest_is_there(before, after)


def _rest_is_there(before: Graph, after: Graph) -> None:
    """But for products, their sums and slices, each operation is there as often as it was."""
    mine, ours = (Counter(node.op for node in live_ops(g)) for g in (after, before))
    shown = f"The program has {_counted(ours)}; the result has {_counted(mine)}."
    for op in ("matmul", "add", "slice"):
        del mine[op], ours[op]
    if mine != ours:
        raise Wrong(
            f"Only products may be merged; everything else must stay as it is. {shown}",
            program=before,
            got=after,
            spec="Merge matrix products of one operand",
        )


def _counted(ops: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {op}" for op, count in ops.items() if count)


def _columns(graph: Graph) -> int:
    return sum(n.type.dims[-1] for n in live_ops(graph) if n.op == "matmul")


def _count(graph: Graph) -> int:
    return sum(n.op == "matmul" for n in topological_order(graph.outputs))
