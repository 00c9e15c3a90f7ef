"""Visible checks of the student's model: it is counted, converted and run. Next room: claims.py."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, background, checks
from autograder.check.meaning import in_double
from autograder.check.properties import live_ops, valid_graph
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.registry import flops

OWN = "Make a model of your own that can be benchmarked"
SEEDS = "equal seeds give equal weights, and different seeds different ones"
GRAPH = "the graph, as `read` or `trace` makes it"
ENDS = "It has one input and one output, both f32, with sizes that are numbers"
SIZE = "It has at least 20 operations of at least 6 kinds"
PRODUCTS = "among them at least 3 products (`conv`, `matmul`)"
WORK = "One run takes 1 to 300 million floating-point operations, as `flops` counts them"
BYTES = "The constants take at most 20 MB"
ALIKE = "The seed changes nothing but weights"
WRITES = "`to_onnx` can write it"
RESULTS = "For standard normal inputs, all results are finite, and another input gives another"
STEADY = "if the input changes by a millionth of itself, no result changes by more than"
DIGITS = "It keeps its digits: computed in f64, no result differs from that in f32 by more than"


def counted(graph: Graph, call: str) -> str:
    """The sizes of a model, in words; Wrong if one is out of bounds."""
    ends = [node.type for node in (*graph.inputs, *graph.outputs)]
    fixed = all(str(t.dtype) == "f32" and all(isinstance(d, int) for d in t.shape) for t in ends)
    if len(graph.inputs) != 1 or len(graph.outputs) != 1 or not fixed:
        raise Wrong("One input and one output, in f32, of fixed sizes.", program=call, spec=ENDS,
                    got=f"{len(graph.inputs)} inputs, {len(graph.outputs)} outputs: "
                    f"{', '.join(map(str, ends))}")  # fmt: skip
    ops = live_ops(graph)
    kinds = Counter(node.op for node in ops)
    products, work = kinds["conv"] + kinds["matmul"], sum(map(flops, ops)) / 1e6
    size = sum(node.type.nbytes for node in graph.constants) / 1e6
    seen = f"{len(ops)} operations of {len(kinds)} kinds, {products} products, {work:.4g} MFLOP, " \
        f"{size:.3g} MB"  # fmt: skip
    for holds, problem, spec in (
        (len(ops) >= 20 and len(kinds) >= 6, "It is too small.", SIZE),
        (products >= 3, "It has too few products.", PRODUCTS),
        (1 <= work <= 300, "It has too little work, or too much.", WORK),
        (size <= 20, "It is too large.", BYTES),
    ):
        if not holds:
            raise Wrong(problem, program=call, got=seen, spec=spec)
    return seen


def results(graph: Graph, call: str, rng: np.random.Generator) -> None:
    """What it computes, for standard normal inputs."""
    first, second = rng.standard_normal((2, *graph.inputs[0].type.dims)).astype(np.float32)
    near = (first.astype(np.float64) * (1 + 1e-6)).astype(np.float32)
    one, other, moved = (np.asarray(run(graph, [x])[0], np.float64) for x in (first, second, near))
    largest = float(np.abs(one).max(initial=0.0))
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise Wrong("Some results are not finite.", program=call, spec=RESULTS)
    if np.abs(one - other).max(initial=0.0) <= 1e-5 * largest:
        raise Wrong("The results do not depend on the input.", program=call, spec=RESULTS,
                    got=f"{one.ravel()[:5]} and {other.ravel()[:5]}")  # fmt: skip
    exact = np.asarray(run(in_double(graph), [first.astype(np.float64)])[0])
    for result, problem, spec in ((moved, "It is not steady.", STEADY),
                                  (exact, "It loses digits.", DIGITS)):  # fmt: skip
        if (step := np.abs(one - result).max(initial=0.0)) > 1e-3 * largest:
            raise Wrong(problem, program=call, spec=spec,
                        got=f"a result changes by {step / largest:.2g} of the largest")  # fmt: skip


def written(graph: Graph, call: str) -> None:
    """As an ONNX model, where onnx is installed."""
    if find_spec("onnx") is None:
        return
    from course_lib.frontend.onnx.write import to_onnx  # onnx is an option

    try:
        to_onnx(graph)
    except ValueError as error:
        raise Wrong("It cannot be written as ONNX.", program=call, got=str(error)[:300],
                    spec=WRITES) from None  # fmt: skip


def alike(model: Any, seed: int, other: int) -> tuple[Graph, str]:
    """The model of a seed, and its sizes; compared with itself, and with that of another seed."""
    call = f"model({seed})"
    graph, again, changed = (valid_graph(model(n), spec=GRAPH) for n in (seed, seed, other))
    seen = counted(graph, call)
    if _weights(graph) != _weights(again):
        raise Wrong("Two calls gave different weights.", program=call, spec=SEEDS)
    both = f"{call} and model({other})"
    if _form(graph) != _form(changed):
        raise Wrong("The operations must not depend on the seed.", spec=ALIKE, program=both)
    if _weights(graph) == _weights(changed):
        raise Wrong("Two seeds gave the same weights.", spec=SEEDS, program=both)
    return graph, seen


def _weights(graph: Graph) -> list[bytes]:
    return [node.attrs["value"].tobytes() for node in graph.constants]


def _form(graph: Graph) -> list[tuple]:
    """All of it but the weights: operations with their attributes, and who reads what."""
    place = {node: k for k, node in enumerate(graph.nodes)}
    return [
        (node.op, str(node.type), [place[one] for one in node.inputs],
         {key: repr(value) for key, value in node.attrs.items() if key != "value"})
        for node in graph.nodes
    ]  # fmt: skip


@checks("u18_lab_report.model", spec=[OWN, GRAPH, ENDS, SIZE, PRODUCTS, WORK, BYTES, SEEDS, ALIKE,
                                      WRITES, RESULTS, STEADY, DIGITS])  # fmt: skip
def it_can_be_benchmarked(model):
    """What it consists of, what it computes, and what the seed changes."""
    graph, seen = alike(model, 0, 1_024_000)
    results(graph, "model(0)", np.random.default_rng(18))
    written(graph, "model(0)")
    return seen


background("u18_lab_report.model", "a whole number", because="an argument")
