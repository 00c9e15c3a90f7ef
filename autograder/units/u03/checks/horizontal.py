"""Checks of unit 3 for `passes.horizontal`: products that share an operand become one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import checks
from autograder.check.properties import live_ops, same_meaning
from autograder.units.u03.checks import horizontal_cases as given
from autograder.units.u03.checks.horizontal_cases import BIASED, MOVED, SAME, moved, product
from autograder.units.u03.checks.results import counted, keeps_origins, leaves, ops_of, wrong
from course_lib.ir.graph.build import relu, reshape, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order

HORIZONTAL = "passes.horizontal"
MERGE = "Merge matrix products of one operand"
COLUMNS, SUMS = "concat(w_0 .. w_n-1)", "concat(b_0 .. b_n-1)"
BATCHES = "x may have batch axes in front"
REPLACED = "what is replaced stays behind for `dce`"
MERGED = (MERGE, "n >= 2", "y = matmul(x, concat(w_0 .. w_n-1))", COLUMNS, SUMS, BATCHES, SAME,
          BIASED, "`branches(graph)` finds the candidates", "products by a constant matrix",
          "with the constant bias if", "Adding a bias of zeros instead", MOVED, REPLACED,
          "The results are the same numbers")  # fmt: skip
REWRITTEN = "moves each slice behind the reshape"
ORIGINS = "The merged products carry the origins of all branches, and each slice at least those"
OWN = "each slice at least those of its own end"


@checks(HORIZONTAL, spec=MERGED)
def horizontal_merges_siblings(horizontal):
    """Two, three, with a bias, of different widths, a hundred, empty batches, half precision."""
    x, y = inp("x", "f32[2,3]"), inp("y", "f32[2,3]")
    w, v = (const(np.arange(6, dtype=np.float32).reshape(3, 2) - k) for k in (0, 2))
    ones, zeros = (
        [moved(product(x, 2, k) + const(np.full(2, k * one, np.float32))) for k in (0, 1)]
        for one in (1, 0)
    )
    again = x @ w
    rest = [relu(x), relu(x), moved(moved(x)), relu(relu(x)), reshape(x, (2, 3)), x * 1.0, x + 0.0]
    many = [moved(product(x, 1 + k % 3, k)) for k in range(100)]
    cases: list[tuple[list[Node], int, str, int]] = [
        ([moved(product(x, n, n)) for n in (2, 3)], 1, MERGED[2], 0),
        ([moved(product(x, n, n)) for n in (2, 1, 3)], 1, MERGED[2], 0),
        ([moved(product(x, n, n, bias=True)) for n in (2, 3)], 1, MERGED[2], 1),
        ([moved(o @ m) for m in (w, v) for o in (x, y)], 2, SAME, -1),
        ([moved(x @ w), relu(x @ w), moved(x @ v)], 2, MOVED, -1),
        (ones, 1, BIASED, -1),
        (zeros, 1, BIASED, 1),
        ([moved(x @ w), given.first(again), moved(again), given.flat(x @ v)], 1, COLUMNS, 0),
        ([moved(x @ w), moved(x @ v), *rest], 1, MERGE, -1),
        (many, 1, COLUMNS, -1),
    ]
    for ends, wanted, spec, sums in cases:
        _products(horizontal, [x, y], ends, wanted, spec, sums)
    for kind in ("f16[2,3]", "f32[0,3]", "f32[2,0,3]"):
        z = inp("z", kind)
        ends = [moved(product(z, 2, k, bias=True)) for k in (1, 2)]
        _products(horizontal, [z], ends, 1, BATCHES)
    return "siblings of different widths, shared weights, empty batches"


@checks(HORIZONTAL, spec=SAME)
def horizontal_merges_what_reads_a_merged_one(horizontal):
    """Two families, of which the second reads what the first makes."""
    x = inp("x", "f32[4,6]")
    one, other = (moved(product(x, 3, k)) for k in (1, 2))
    h = relu(one)
    before = Graph.of([x], [other, *(moved(product(h, n, n)) for n in (2, 5))], "stacked")
    after = same_meaning(before, horizontal(before))
    if (count := ops_of(after)["matmul"]) > 2:
        raise wrong(f"Two families must become two products, not {count}. A merged product that "
                    "reads a node of the old graph keeps what that node needs alive: take its x "
                    "from `inputs`.", before, after)  # fmt: skip
    return "two families, one behind the other"


@checks(HORIZONTAL, given=given.families(), examples=30, spec=MERGED)
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
    _products(horizontal, graph.inputs, graph.outputs, len(keys) + alone, BIASED, sums)


@checks(HORIZONTAL, spec=[*MERGED, *(spec for _, _, spec in given.left_alone())])
def horizontal_leaves_the_rest(horizontal):
    """Other operands, other weights, activations behind: nothing to merge."""
    leaves(horizontal, given.left_alone(), "There is nothing to merge, so everything must stay")
    return f"{len(given.left_alone())} programs with nothing to merge"


@checks(HORIZONTAL, spec=REWRITTEN)
def horizontal_moves_slices_behind_reshapes(horizontal):
    """Three projections of two heads each: nothing has to copy a slice."""
    x = inp("x", "f32[4,6]")
    ends = [transpose(reshape(product(x, 4, k), (4, 2, 2)), (1, 0, 2)) for k in (1, 2, 3)]
    before = Graph.of([x], ends, "heads")
    after = same_meaning(before, horizontal(before))
    if ops_of(after)["matmul"] != 1:
        raise wrong("Three products of x must become one.", before, after, REWRITTEN)
    for node in live_ops(after):
        if node.op == "reshape" and node.inputs[0].op == "slice":
            raise wrong("No reshape may read a slice, which would have to be copied. Split all "
                        "columns into heads first, and slice the heads.", before, after, REWRITTEN,
                        node)  # fmt: skip
    return "two heads of three projections"


@checks(HORIZONTAL, spec=[ORIGINS, OWN])
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
    for node in [n for n in live_ops(after) if n.op in ("matmul", "add")]:
        keeps_origins(before, after, every, node, ORIGINS)
    for k, output in enumerate(after.outputs, 1):
        for node in [n for n in topological_order([output]) if n.op == "slice"]:
            keeps_origins(before, after, {f"layer{k}.bias"}, node, OWN)
    return "the names of the layers, kept"


@checks(HORIZONTAL, spec=REPLACED)
def horizontal_works_in_the_compiler(horizontal):
    """Two heads of three projections, compiled with this pass in its place."""
    x = inp("x", "f32[4,6]")
    q, k, v = (reshape(product(x, 4, n, bias=True), (4, 2, 2)) for n in (1, 2, 3))
    q, k, v = (transpose(q, (1, 0, 2)), transpose(k, (1, 2, 0)), transpose(v, (1, 0, 2)))
    before = Graph.of([x], [apply("softmax", (q @ k) * 0.125) @ v], "attention")
    program = works_in_the_compiler(HORIZONTAL, horizontal, before)
    return f"compiled to {len(program.steps)} kernels"


def _products(horizontal: Any, inputs: Any, ends: Any, wanted: int, spec: str, sums: int = -1
              ) -> None:  # fmt: skip
    """The result means the same, in `wanted` products and (if known) `sums` additions, and nothing
    else has changed."""
    before = Graph.of(inputs, ends, "families")
    rtol = 1e-12 if before.inputs[0].type.dtype.name == "f64" else 1e-4
    after = same_meaning(before, horizontal(before), rtol=rtol, spec=spec)
    mine, ours = ops_of(after), ops_of(before)
    if mine["matmul"] != wanted:
        left = f"{wanted} of the {ours['matmul']} products must be left, not {mine['matmul']}."
        raise wrong(left, before, after, spec)
    columns, expected = (
        sum(n.type.dims[-1] for n in live_ops(graph) if n.op == "matmul")
        for graph in (after, before)
    )
    if columns != expected:
        problem = f"Together the products must have {expected} columns; they have {columns}."
        raise wrong(problem, before, after, COLUMNS)
    if sums not in (-1, mine["add"]):
        why = "The biases of a family must become one" if sums else "No product has a bias"
        left = f"{sums or 'no'} addition{'s' * (sums != 1)} must be left, not {mine['add']}."
        raise wrong(f"{why}, so {left}", before, after, SUMS)
    shown = f"The program has {counted(ours)}; the result has {counted(mine)}."
    for op in ("matmul", "add", "slice"):
        del mine[op], ours[op]
    if mine != ours:
        problem = "Only products may be merged; everything else must stay as it is."
        raise wrong(f"{problem} {shown}", before, after, MERGE)
