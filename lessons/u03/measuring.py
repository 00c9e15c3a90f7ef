"""What the notebook of unit 3 measures with: times, kernels, bytes, and the passes of the unit.

Next room: files.py, the same for ONNX files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, reduce
from typing import Any

import numpy as np

import course_lib
from course_lib.draw.plots.roofline import Dot
from course_lib.exercises import baselines, plugged
from course_lib.ir.graph.build import neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import traffic
from course_lib.lower.executed import executed
from course_lib.measure.turns import in_turns, least
from course_lib.models import example_inputs
from course_lib.models.traced import traced
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.groups import as_kernels
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.sink_relayouts import sink_relayouts
from course_lib.passes.pipeline import DEFAULT

PASSES = [p for p in DEFAULT[: DEFAULT.index(fuse) + 1] if p not in (layout, sink_relayouts)]
Heuristics = Mapping[str, Callable[..., bool]]
CORE = ["passes.fuse", "passes.should_fuse"]
UNIT = ["passes.bn_fold", "passes.horizontal", *CORE]


LONG_ENOUGH = 0.5  # seconds: a busy machine is slow for tens of milliseconds at a time


def fastest(calls: Mapping[Any, Callable[[], Any]], rounds: int = 9, number: int = 1) -> dict:
    """The best processor time of each call in ms: no other process counts. All are warmed up,
    and tried in turns, so that a slow moment hits all of them; `number` calls are timed together.
    Short calls have more rounds."""
    times = in_turns(list(calls.values()), rounds, number, time.process_time, LONG_ENOUGH)
    return {name: 1e3 * best for name, best in zip(calls, least(times), strict=True)}


def small_calls() -> list[tuple[str, float]]:
    """Microseconds of one operation on one number: ours, numpy's, torch's, all warm."""
    import torch

    one, tensor = np.ones(1, np.float32), torch.ones(1)
    short, long = _chain(1), _chain(51)
    calls = {
        "numpy.maximum": lambda: np.maximum(one, 0),
        "torch.relu": lambda: torch.relu(tensor),
        "short": lambda: short(one),
        "long": lambda: long(one),
    }
    us = {name: 1e3 * ms for name, ms in fastest(calls, number=100).items()}
    more = max(us.pop("long") - us.pop("short"), 0.0) / 50  # less than the clock's noise: 0
    return [*us.items(), ("one more kernel of ours", more)]


def _chain(length: int) -> Any:
    """That many kernels, each of one operation on one number."""
    steps = [neg if k % 2 else relu for k in range(length)]
    graph = trace(lambda x: reduce(lambda y, step: step(y), steps, x), "f32[1]")
    return course_lib.compile(graph, passes=[], threads=1)


def together(graph: Graph) -> Graph:
    """All operations of a graph in one kernel, if one can hold them."""
    group: list = []
    return as_kernels(graph, dict.fromkeys(graph.ops, group))


def conv_relu(kernel: int, groups: int, size: int = 224) -> Graph:
    """A convolution of 64 channels, and the ReLU of its result."""
    shape = (64, 64 // groups, kernel, kernel)
    w = np.random.default_rng(0).standard_normal(shape, np.float32)
    return trace(lambda x: relu(apply("conv", x, w, groups=groups)), f"f32[1,64,{size},{size}]")


def fused_and_not(programs: Mapping[str, Graph]) -> dict[str, dict[str, Any]]:
    """Each program as one kernel for each operation and as one for all: bytes, operations, ms."""
    rows = {}
    for name, program in programs.items():
        shape = program.inputs[0].type.dims
        image = np.random.default_rng(1).standard_normal(shape, np.float32)
        two, one = (course_lib.compile(g, passes=[], threads=1)
                    for g in (program, together(program)))  # fmt: skip
        ms = fastest({"two": partial(two, image), "one": partial(one, image)})
        rows[name] = {
            "flops": one.report().flops,
            "bytes": (two.report().traffic, one.report().traffic),
            "ms": (ms["two"], ms["one"]),
            "same bits": np.array_equal(two(image), one(image)),
        }
    return rows


def moved_dots(rows: Mapping[str, Mapping[str, Any]]) -> list[Dot]:
    """One dot for each row of `fused_and_not`, and where it was before."""
    dots = []
    for name, row in rows.items():
        before, (x, y) = ((row["flops"] / moved, row["flops"] / ms * 1e3)
                          for moved, ms in zip(row["bytes"], row["ms"], strict=True))  # fmt: skip
        dots.append(Dot(name, x, y, before=before))
    return dots


def cost(graph: Graph) -> list[float]:
    """Kernels, MB moved, millions of operations executed in their loops. A reshape is a view."""
    moved = [traffic(n) for n in graph.ops if n.op != "reshape"]
    return [len(moved), sum(moved) / 1e6, executed(graph) / 1e6]


@cache
def imported(name: str) -> Graph:
    """A model of the course, as it comes from PyTorch."""
    return traced(name)


def fused(model: Graph, *mine: str) -> Graph:
    """A model after the passes; of this unit only those in `mine` do anything."""
    with baselines(*[pass_ for pass_ in UNIT if pass_ not in mine]):
        return run_passes(model, PASSES)


def ready(name: str) -> Graph:
    """A model after all passes but `fuse`; of this unit, none of them does anything."""
    with baselines(*UNIT):
        return run_passes(imported(name), PASSES[:-1])


def with_heuristics(graphs: Sequence[Graph], heuristics: Heuristics) -> list[list[Any]]:
    """Kernels, MB and operations of all graphs together, fused with each heuristic."""
    rows = []
    for name, rule in heuristics.items():
        with plugged("passes.should_fuse", rule):
            costs = [cost(fuse(graph)) for graph in graphs]
        rows.append([name, *map(sum, zip(*costs, strict=True))])
    return rows


def refused(programs: Mapping[str, Graph], rule: Callable[..., bool]) -> list[list[Any]]:
    """The edges that one kernel could hold and this heuristic refuses: both ends, the bytes."""
    rows: dict[tuple[str, ...], float] = {}
    for name, graph in programs.items():

        def asked(producer: Node, consumer: Node, name: str = name) -> bool:
            yes = rule(producer, consumer)
            if not yes and producer.op not in ("input", "constant"):
                ends = (f"{n.op} {list(n.type.shape)}" for n in (producer, consumer))
                rows[(name, *ends)] = producer.type.nbytes / 1e6
            return yes

        with plugged("passes.should_fuse", asked):
            fuse(graph)
    return [[*row, megabytes] for row, megabytes in rows.items()]


def on_the_clock(graphs: Mapping[str, Graph], heuristics: Heuristics) -> list[list[Any]]:
    """Kernels, MB, and ms on one thread, of models that were fused with each heuristic."""
    rows = []
    for name, graph in graphs.items():
        inputs, models = example_inputs(name), {}
        for label, rule in heuristics.items():
            with plugged("passes.should_fuse", rule):
                models[label] = course_lib.compile(fuse(graph), passes=[], threads=1)
        calls = {label: partial(m, *inputs) for label, m in models.items()}
        ms = fastest(calls, rounds=7)
        rows += [[name, label, *cost(m.graph)[:2], ms[label]] for label, m in models.items()]
    return rows
