"""The three counts of a model, of its kernels and of the time that they take.

    counts_of(graph)  ->  Counts(formula=668_672, emitted=668_672, ..., chip=21_757_952)

Next room: `plugin.py`, the counter in C++.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import course_lib
from course_lib.accelerator.workload import products
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.llvm.inspect.fma import fused
from course_lib.llvm.inspect.work import Counts as Kinds
from course_lib.llvm.inspect.work import total, work
from course_lib.measure.turns import in_turns
from course_lib.runtime.executable import CompiledModel
from lessons.bill import bill_of
from lessons.u05.tools import needing

ROUNDS = 60
# Multiply-adds of the course's models with the library's own functions plugged in: by the formula,
# executed in the LLVM IR that the compiler writes, and multiplications of a chip of 32 x 32 cells.
# tests/units/test_u05.py counts the first two again.
REFERENCE_COUNTS = {
    "mlp": (668_672, 668_672, 21_757_952),
    "block": (109_051_904, 111_018_240, 109_051_904),
}
TITLES = {"mlp": "perceptron", "block": "transformer block"}


@dataclass(frozen=True)
class Counts:
    """The multiply-adds of a model, and what all cells of a chip multiply for it.

    formula    m k n of its matrix products
    emitted    executed in LLVM IR as our compiler writes it
    optimized  the same after LLVM's optimizer, for this processor
    """

    formula: int
    emitted: int
    optimized: int
    chip: int


@needing("llvm.fma.arithmetic", "llvm.control.balanced")
def counts_of(graph: Graph, cells: int = 32) -> Counts:
    """By the formula, in LLVM IR before and after the optimizer, and on a square chip."""
    run, parts = compiled(graph), products(graph)
    works = work(run.program, run.code)
    emitted = total(works, lambda w: multiply_adds(w.emitted))
    optimized = total(works, lambda w: multiply_adds(w.optimized))
    if emitted is None or optimized is None:
        raise ValueError("the runs of some block do not follow")
    chip = sum(multiplied(part, cells) for part in parts)
    return Counts(sum(part.macs for part in parts), emitted, optimized, chip)


@needing("llvm.fma.arithmetic", "llvm.control.balanced")
def kernels_of(graph: Graph) -> Picture:
    """A table of the kernels with multiply-adds: by the formula, and executed."""
    run = compiled(graph)
    nodes = {step.kernel.name: step.node for step in run.program.steps if step.kernel}
    rows: list[list[Any]] = []
    for kernel in work(run.program, run.code):
        asked, done = asked_of(nodes[kernel.name]), multiply_adds(kernel.emitted)
        if done is None:
            raise ValueError(f"the runs of some block of {kernel.name} do not follow")
        if done:
            rows.append([kernel.name, kernel.calls, asked, done, done - asked])
    heads = ["formula, each", "LLVM IR, each", "more"]
    return table(rows, ["kernel", "calls", *heads], exact=heads)


@needing("llvm.fma.arithmetic", "llvm.control.balanced")
def bill(graphs: Mapping[str, Graph], inputs: Mapping[str, list[np.ndarray]]) -> Picture:
    """All counts of some models, and the time that one thread of this processor takes for them."""
    rows, differ = [], []
    for name, graph in graphs.items():
        c = counts_of(graph)
        us = microseconds(compiled(graph), inputs[name])
        rows.append(
            [
                TITLES.get(name, name),
                c.formula,
                c.emitted,
                c.optimized,
                c.chip,
                us,
                1e3 * us / c.emitted,
            ]
        )
        if name in REFERENCE_COUNTS and (ours := REFERENCE_COUNTS[name][1]) != c.emitted:
            differ.append(f"ours for {name}: {ours:,}")
    counts = ["by the formula", "as emitted (yours)", "after -O3 (yours)", "on the chip"]
    times = ["time here (µs)", "for each emitted (ns)"]
    same = "; ".join(differ) or "your counts are those of the reference"
    title = f"multiply-adds ({same})"
    return bill_of(rows, ["", *counts, *times], title)


def matmul_of(m: int, k: int, n: int) -> Graph:
    """One product of [m, k] by [k, n]."""
    return parse_graph(f"""
    graph @f(%a: f32[{m},{k}], %b: f32[{k},{n}]) -> (f32[{m},{n}]) {{
      %0 = matmul(%a, %b) : f32[{m},{n}]
      return %0
    }}""")


def gelu_of(*dims: int) -> Graph:
    """GELU alone, on numbers of this shape."""
    shape = f"f32[{','.join(map(str, dims))}]"
    return parse_graph(f"""
    graph @f(%x: {shape}) -> ({shape}) {{
      %0 = gelu(%x) : {shape}
      return %0
    }}""")


def compiled(graph: Graph) -> CompiledModel:
    """For one thread."""
    run = course_lib.compile(graph, threads=1)
    assert isinstance(run, CompiledModel)
    return run


def microseconds(run: CompiledModel, inputs: list[np.ndarray]) -> float:
    """The best of many calls, after one to warm up."""
    return 1e6 * min(in_turns([lambda: run(*inputs)], ROUNDS)[0])


def multiply_adds(kinds: Kinds) -> int | None:
    return None if kinds is None else fused(kinds)


def asked_of(node: Node) -> int:
    """The multiply-adds of the matrix product in a node, by the formula; 0 if there is none."""
    fresh = [inp(f"x{k}", operand.type) for k, operand in enumerate(node.inputs)]
    return sum(p.macs for p in products(Graph.of(fresh, [node.with_inputs(tuple(fresh))])))


def multiplied(product: Any, cells: int) -> int:
    """What all cells of an output-stationary chip multiply for a product, useful or not."""
    tiles = -(-product.m // cells) * -(-product.n // cells)
    return product.count * tiles * cells * cells * product.k
