"""One convolution in several layouts: its machine code, its figures, its time.

    layers()                  # three layers of ResNet-18, in three layouts and more
    innermost(kernel)         # the instructions of the loop that multiplies, counted
    layer_table(layers())     # counted, expected by the cost model, measured

Instructions are counted in code for x86-64-v4 (AVX-512), whatever the processor at hand: loops are
scheduled for it, and LLVM makes it everywhere. Next room: autograder/units/u04/checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import llvmlite.binding as llvm
import numpy as np

import course_lib
from course_lib.cost.layout import cost
from course_lib.cost.machine import AVX512
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.ops.layout import rearranged
from course_lib.llvm.backend import optimize
from course_lib.llvm.jit import emit_module
from course_lib.measure.turns import in_turns, least
from course_lib.schedule.schedule import schedule
from lessons.u04.chip import PLAIN

# channels in and out, padded image, kernel: a layer of the first stage, of the last, and a 1x1
SIZES = {"3×3, 64 channels, 58×58": (64, 58, 3), "3×3, 512 channels, 9×9": (512, 9, 3),
         "1×1, 64 channels, 56×56": (64, 56, 1)}  # fmt: skip
# The layouts of images and of filters. Our loops run over filters in the order in which they lie.
OTHER_LOOPS = "nchw, filters ohwi"
WAYS = {"nchw": ("nchw", "oihw"), OTHER_LOOPS: ("nchw", "ohwi"),
        "nhwc": ("nhwc", "ohwi"), "nchw16c": ("nchw16c", "oihw16i16o")}  # fmt: skip


@dataclass(frozen=True)
class Layer:
    name: str
    layout: str
    graph: Graph
    run: Any  # compiled, for one thread
    image: np.ndarray

    @property
    def kernel(self) -> Kernel:
        """Its loops as they are scheduled for AVX-512; `run` is scheduled for this processor."""
        (step,) = schedule(self.run.stage("loops").form, AVX512).steps
        assert step.kernel is not None
        return step.kernel


@dataclass(frozen=True)
class Counts:
    """Instructions of one loop: all, vector multiply-adds, those that touch the stack."""

    all: int
    multiply_adds: int
    on_the_stack: int
    text: str


def layers() -> list[Layer]:
    """Each of the layers in three layouts, the first also in `OTHER_LOOPS`; its image comes in that
    layout already."""
    ways = [(name, way) for name in SIZES for way in WAYS]
    return [_layer(*one) for one in ways if one[1] != OTHER_LOOPS or one[0] == next(iter(SIZES))]


def _layer(name: str, way: str) -> Layer:
    (channels, size, kernel), (layout, of_filters) = SIZES[name], WAYS[way]
    rng = np.random.default_rng(0)
    plain = rng.standard_normal((1, channels, size, size), dtype=np.float32)
    weights = rng.standard_normal((channels, channels, kernel, kernel), dtype=np.float32)
    image = np.ascontiguousarray(rearranged(plain, "nchw", layout))
    filters = np.ascontiguousarray(rearranged(weights, "oihw", of_filters))
    x = inp("x", f"f32[{','.join(map(str, image.shape))}]")
    if way == "nchw":
        conv = apply("conv", x, const(filters))
    else:
        conv = apply("conv_in_layout", x, const(filters), layouts=(layout, of_filters, layout))
    graph = Graph.of([x], [conv])
    run = course_lib.compile(graph, passes=PLAIN, threads=1)
    return Layer(name, way, graph, run, image)


def assembly(kernel: Kernel, cpu: str = "x86-64-v4") -> list[str]:
    """The lines of a kernel's assembly for one processor, which need not be this one."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = "x86_64-unknown-linux-gnu"

    def machine() -> llvm.TargetMachine:
        return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3, jit=True)

    text, _ = emit_module(kernel)
    text = re.sub(r'target triple = "[^"]*"', f'target triple = "{triple}"', text)
    return machine().emit_assembly(optimize(text, machine())).splitlines()


def innermost(kernel: Kernel) -> Counts:
    """The first innermost loop of a kernel that multiplies."""
    lines = assembly(kernel)
    labels: dict[str, int] = {}
    for number, line in enumerate(lines):
        if label := re.match(r"(\.L\w+):", line):
            labels[label[1]] = number
        jump = re.match(r"\s+j\w+\s+(\.L\w+)", line)
        if jump and jump[1] in labels:
            counted = _counted(lines[labels[jump[1]] + 1 : number + 1])
            if counted.multiply_adds:
                return counted
    raise ValueError(f"@{kernel.name} has no loop that multiplies")


def _counted(lines: Iterable[str]) -> Counts:
    code = [line for line in lines if re.match(r"\t[a-z]", line)]
    fmas = sum("fmadd" in line.split()[0] for line in code)
    return Counts(len(code), fmas, sum("%rsp" in line for line in code), "\n".join(code))


def layer_table(measured: Iterable[Layer]) -> Any:
    """Counted, expected by our cost model, and measured: each layer in each layout."""
    rows, every = [], list(measured)
    for name in SIZES:
        mine = {each.layout: each for each in every if each.name == name}
        times = in_turn({layout: _runner(each) for layout, each in mine.items()}, repeat=25)
        for layout, each in mine.items():
            counts, (speed, ms) = innermost(each.kernel), times[layout]
            expected = cost(mine["nchw"].graph) / cost(each.graph)
            counted = [counts.multiply_adds, counts.on_the_stack]
            rows.append([name, layout, *counted, expected, speed, ms])
    names = ["multiply-adds", "on the stack", "expected speed-up", "measured", "ms"]
    return table(rows, ["layer", "layout", *names])


def _runner(layer: Layer) -> Callable[[], Any]:
    return lambda: layer.run(layer.image)


def in_turn(
    programs: Mapping[str, Callable[..., Any]], *inputs: Any, repeat: int = 11
) -> dict[str, tuple[float, float]]:
    """The programs run in turn, warm: how many times faster each is than the first, and its
    milliseconds, both for the fastest of its runs. Time is processor time: nobody else's counts."""
    calls = [partial(run, *inputs) for run in programs.values()]
    best = least(in_turns(calls, repeat, clock=process_time))
    return {name: (best[0] / t, 1e3 * t) for name, t in zip(programs, best, strict=True)}
