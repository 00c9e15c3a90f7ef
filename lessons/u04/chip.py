"""The chip of unit 4: 512 KiB of memory for all that a network computes on its way.

    nets = programs()          # five small networks, lowered to kernels in plain layouts
    chip_table(nets)           # which of them fit, by what is plugged in now

Everything is read with the functions that are plugged in when it is called, so a student's planner
changes the table. Next room: tested.py, which runs the code of a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.compiler import read
from course_lib.draw.plots.table import table
from course_lib.draw.plots.timeline import Span, timeline
from course_lib.exercises import baselines
from course_lib.ir.graph.graph import Graph
from course_lib.ir.loops.program import Program
from course_lib.lower.lower import lower
from course_lib.memory.in_place import in_place
from course_lib.memory.liveness import Interval, lifetimes
from course_lib.memory.offsets import arena_size, lower_bound
from course_lib.memory.order import reorder
from course_lib.memory.plan import place
from course_lib.memory.planners import first_fit
from course_lib.models.traced import traced
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.sink_relayouts import sink_relayouts
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose

KIB = 1 << 10
SRAM = 512 * KIB  # bytes on the chip
PLAIN = [one for one in DEFAULT if one not in (layout, sink_relayouts)]  # images stay in nchw
PLANNERS = ("schedule.memory.liveness", "schedule.memory.assign_offsets")

# What runs on the chip: the name in the tables, the model, the shape of its input.
NETS: list[tuple[str, str, tuple[int, ...]]] = [
    ("ResNet-18, 64×64 pixels", "resnet18", (1, 3, 64, 64)),
    ("transformer block, 80 tokens", "block", (1, 80, 256)),
    ("transformer block, 84 tokens", "block", (1, 84, 256)),
    ("ResNet-50, 64×64 pixels", "resnet50", (1, 3, 64, 64)),
    ("MobileNetV2, 64×64 pixels", "mobilenet_v2", (1, 3, 64, 64)),
]


def program_of(graph: Graph) -> Program:
    """A graph as kernels, fused, with its images in plain layouts."""
    return lower(decompose(run_passes(graph, PLAIN)))


def read_net(model: str, shape: tuple[int, ...]) -> Graph:
    """A model as a graph, for an input of this shape."""
    return read(traced(model, [shape]), [np.zeros(shape, np.float32)])


def programs() -> dict[str, Program]:
    """The networks of the chip, each for its small input, with the sizes of their weights alone."""
    largest_first = sorted(NETS, key=lambda net: net[1] != "resnet50")
    sizes = {
        name: sizes_of(program_of(read_net(model, shape))) for name, model, shape in largest_first
    }
    return {name: sizes[name] for name, _, _ in NETS}


def sizes_of(program: Program) -> Program:
    """The program with constants of the same shapes that take no memory: one zero each."""
    zeros = {
        name: np.broadcast_to(array.dtype.type(0), array.shape)
        for name, array in program.constants.items()
    }
    return replace(program, constants=zeros)


def without_reuse(program: Program) -> int:
    """The bytes of all values between inputs and results, each with bytes of its own."""
    with baselines(*PLANNERS):
        return place(program).size


def by_first_fit(program: Program) -> int:
    """The arena that first fit needs for the lives that are plugged in."""
    lives = list(place(program).intervals)
    return arena_size(lives, first_fit(lives))


def in_order_and_in_place(program: Program) -> int:
    """The arena with the order and the results in place that are plugged in."""
    return place(in_place(reorder(program))).size


COLUMNS: dict[str, Callable[[Program], int]] = {
    "no reuse": without_reuse,
    "first fit": by_first_fit,
    "your plan": lambda program: place(program).size,
    "and your order": lambda program: place(reorder(program)).size,
    "and in place": in_order_and_in_place,
    "lower bound": lambda program: place(program).lower_bound,
}


def chip_table(nets: dict[str, Program], *columns: str) -> Any:
    """The arena of each network in KiB, by each of these ways, and whether the last one fits."""
    rows = []
    for name, program in nets.items():
        sizes = [COLUMNS[column](program) for column in columns]
        rows.append([name, *(size / KIB for size in sizes), "yes" if sizes[-1] <= SRAM else "no"])
    return table(rows, ["network", *(f"{column} (KiB)" for column in columns), "fits 512 KiB"])


def busiest(program: Program, count: int = 3) -> Any:
    """The steps at which most bytes are alive, the worst first, and by how much they exceed the
    chip."""
    lives = lifetimes(program)
    rows: list[list[Any]] = []
    for number, step in enumerate(program.steps):
        alive = [i for i in lives if i.first <= number <= i.last]
        parts = ", ".join(f"%{i.name}: {i.size / KIB:g}" for i in alive)
        together = sum(i.size for i in alive)
        rows.append([f"%{step.writes}", parts, together / KIB, (together - SRAM) / KIB])
    rows.sort(key=lambda row: -row[-1])
    heads = [
        "the step that writes",
        "alive (KiB)",
        "together (KiB)",
        "more than the chip has (KiB)",
    ]
    return table(rows[:count], heads)


def drawn(intervals: Sequence[Interval], offsets: Any, title: str, bound: int | None = None) -> Any:
    """A plan: each value is a box, as long as its life and as high as its bytes."""
    spans = [
        Span(i.name, i.first, i.last + 1, offsets[i.name], offsets[i.name] + i.size)
        for i in intervals
    ]
    if bound is not None:
        return timeline(spans, title, bound=bound, bound_name="the chip has")
    return timeline(spans, title, bound=lower_bound(intervals))


def all_of_it(model: Any) -> Any:
    """All the arrays of a compiled model as a table."""
    return table(memory_of(model), ["what", "MB"])


def memory_of(model: Any) -> list[list[Any]]:
    """The arrays of a compiled model in this process: weights in all their copies, arena, input and
    result. Not counted: machine code, the stack, and what LLVM keeps."""
    program, memory = model.program, model.memory
    fixed = model.buffers.fixed
    kinds: dict[str, list[np.ndarray]] = {
        "weights, as the graph brought them": [
            _value(c) for c in model.stage("import").form.constants
        ],
        "weights, batch norms folded into them": [_value(c) for c in model.graph.constants],
        "weights, packed for the kernels": [
            *program.constants.values(),
            *(array for name, array in fixed.items() if name in program.constants),
        ],
    }
    rows: list[list[Any]] = []
    seen: set[int] = set()
    for kind, arrays in kinds.items():
        new = {_address(a): a.nbytes for a in arrays if _address(a) not in seen}
        seen |= set(new)
        rows.append([kind, sum(new.values()) / 1e6])
    rows.append(["arena: everything in between", memory.size / 1e6])
    outer = {"input": program.inputs, "result": program.outputs}
    rows += [
        [kind, sum(program.types[v].nbytes for v in names) / 1e6] for kind, names in outer.items()
    ]
    return rows


def _value(node: Any) -> np.ndarray:
    return node.attrs["value"]


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
