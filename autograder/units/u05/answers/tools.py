"""What the notebook of unit 5 does besides: run the optimizer, count after each pass, draw, time.

Next room: `plugin.py`, the counter in C++.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from course_lib.draw.base.picture import Picture
from course_lib.draw.graphs.flow import flow
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp
from course_lib.llvm.changes import changes
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.control.order import order_of
from course_lib.llvm.control.view import functions
from course_lib.llvm.fixed import HASWELL, assembly
from course_lib.llvm.fma import count_fma, fused, parse
from course_lib.llvm.interp import execute

REDUCE = re.compile(r"@(llvm\.vector\.reduce\.\w+\.v(\d+)f32)")
VECTOR = {"ss": 1, "sd": 1}
N = 4096  # elements of a dot product that is timed


def steps(text: str) -> list[tuple[str, str]]:
    """(pass, the module after it) of O3 for Haswell, each a module that LLVM reads."""
    return [(name, module_of(form)) for name, form in changes(text, "haswell")]


def module_of(form: str) -> str:
    """A printed function as a module: declarations for what it calls, no metadata."""
    form = re.sub(r", ![\w.]+ !\d+", "", form)
    calls = sorted(set(REDUCE.findall(form)))
    declared = [f"declare float @{name}(float, <{lanes} x float>)\n" for name, lanes in calls]
    return form + "".join(f"\n{line}" for line in declared)


def counted_steps(states: list[tuple[str, str]], given: Mapping[str, int] | None = None) -> Any:
    """A table: after each pass that changed a count or the number of blocks, what is counted;
    with `given`, what a call executes, too."""
    rows: list[list[Any]] = []
    for name, text in states:
        (count,) = count_fma(text, given).values()
        row: list[Any] = [len(count.blocks), fused(count.static)]
        if given is not None:
            row.append("not known" if count.dynamic is None else fused(count.dynamic))
        if not rows or rows[-1][1:] != row:
            rows.append([name, *row])
    columns = ["after", "blocks", "multiply-adds in the code", "executed in one call"]
    return table(rows, columns if given is not None else columns[:-1])


def machine_lanes(text: str, cpu: str = HASWELL) -> list[tuple[str, int]]:
    """The FMA instructions of the machine code for a module, each with its lanes."""
    found = re.findall(
        r"\b(vfn?m(?:add|sub)\d+([ps][sd]))\s.*%([xy])mm\d+$", assembly(text, cpu), re.M
    )
    wide = {"x": {"ps": 4, "pd": 2}, "y": {"ps": 8, "pd": 4}}
    return [(name, VECTOR.get(kind) or wide[size][kind]) for name, kind, size in found]


def drawn(text: str, counts: Mapping[Any, int] | None = None, title: str = "") -> Picture:
    """The blocks of a function and the ways between them, with the counts that are known."""
    (function,) = functions(parse(text))
    order = order_of(function)
    known = counts or {}
    words = [
        [f"{b}: {function.blocks[b].name}", f"runs {known[b]:,}" if b in known else "runs ?"]
        for b in order.order
    ]
    edges = [(order.place[a], order.place[b]) for a, b in order.edges]
    return flow(words, edges, title or f"@{function.name}")


def edges_of(text: str) -> list[tuple[int, int]]:
    """The ways between the blocks of the only function of a text."""
    (function,) = functions(parse(text))
    return list(order_of(function).edges)


def nanoseconds(*texts: str) -> list[float]:
    """For each dot product the time of one element, the functions run in turn. They run here, as
    they stand, so each one is first run by the interpreter."""
    x = np.linspace(0, 1, N, dtype=np.float32)
    engines, calls = [], []
    for text in texts:
        execute(text, x[:64].copy(), x[:64].copy(), 64)
        engine = llvm.create_mcjit_compiler(parse(text), target_machine())
        engine.finalize_object()
        signature = ctypes.CFUNCTYPE(
            ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
        )
        calls.append(signature(engine.get_function_address("dot")))
        engines.append(engine)
    best = [float("inf")] * len(calls)
    for _ in range(200):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call(x.ctypes.data, x.ctypes.data, N)
            best[k] = min(best[k], time.perf_counter() - start)
    return [1e9 * seconds / N for seconds in best]


def counts_of(graph: Graph, cells: int = 32) -> tuple[int, int | None, int]:
    """(by formula, executed in the LLVM IR as emitted, multiplications of a square chip): the
    multiply-adds of a model."""
    import course_lib
    from course_lib.accelerator.workload import products
    from course_lib.llvm.work import total, work
    from course_lib.runtime.executable import CompiledModel

    run = course_lib.compile(graph, threads=1)
    assert isinstance(run, CompiledModel)
    parts = products(graph)
    emitted = total(
        work(run.program, run.code), lambda w: None if w.emitted is None else fused(w.emitted)
    )
    return sum(p.macs for p in parts), emitted, sum(multiplied(p, cells) for p in parts)


def asked_of(node: Node) -> int:
    """The multiply-adds of the matrix product in a node, by the formula; 0 if there is none."""
    from course_lib.accelerator.workload import products

    fresh = [inp(f"x{k}", operand.type) for k, operand in enumerate(node.inputs)]
    return sum(p.macs for p in products(Graph.of(fresh, [node.with_inputs(tuple(fresh))])))


def multiplied(product: Any, cells: int) -> int:
    """What all cells of an output-stationary chip multiply for a product, useful or not."""
    tiles = -(-product.m // cells) * -(-product.n // cells)
    return product.count * tiles * cells * cells * product.k
