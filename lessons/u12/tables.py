"""The tables of unit 12: cycles and accesses of the course's models, and what others report.

Next room: autograder/units/u12/checks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import numpy as np

from course_lib.accelerator.array import closed
from course_lib.accelerator.array.access import accesses
from course_lib.accelerator.array.dataflow import DATAFLOWS, Folding
from course_lib.accelerator.array.rtl import bench, seen
from course_lib.accelerator.systolic import STAYS, SystolicArray
from course_lib.accelerator.trace.energy import PICOJOULE, SRAM_64_BITS
from course_lib.accelerator.workload import Product, products, total_cycles
from course_lib.bridges.icarus import icarus, installed
from course_lib.compiler import read
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.maker import in_rows, maker
from course_lib.models import example_inputs
from course_lib.models.traced import traced
from course_lib.recorded import recorded
from lessons.bill import bill_of

SIDES = (16, 32, 64, 128, 256)
NAMES = {"mlp": "perceptron", "block": "transformer block", "resnet18": "ResNet-18",
         "mobilenet_v2": "MobileNetV2"}  # fmt: skip
Clocks = Callable[[int, int, SystolicArray, int], int]
Show = Callable[[list, list[str]], Picture]

BY_ICARUS, BY_SCALESIM = (recorded(__file__, f"{tool}.txt") for tool in ("icarus", "scalesim"))
# Cycles that our Verilog counted for [4, 4] x [4, 4] on 4 x 4 cells.
COUNTED: dict[str, int] = BY_ICARUS.data("cycles")
# SCALE-Sim on the same: "Compute cycles" and "Overall utilization" of its report ("Compute
# utilization" is 40 % for "os"). The package has requirements of its own and is not installed here.
REPORTED = {name: tuple(pair) for name, pair in BY_SCALESIM.data("report").items()}


# The arrays of which both count: 4 x 4 cells.
MORE = {"os, drain": {"drain": True}, "ws, shadow": {"shadow": True}}
WITNESSED = {name: SystolicArray(4, 4, dataflow=name[:2], **MORE.get(name, {}))
             for name in ("os", "os, drain", "ws", "ws, shadow", "is")}  # fmt: skip


@functools.cache
def parts_of(model: str) -> tuple[Product, ...]:
    return tuple(products(read(traced(model), example_inputs(model))))


def square(side: int, dataflow: str = "ws", shadow: bool = True) -> SystolicArray:
    return SystolicArray(side, side, dataflow=dataflow, shadow=shadow)


def on_clocks(model: str, array: SystolicArray, clocks: Clocks, wait: int = 1) -> int:
    """Cycles of a model by an answer to `u12.clocks`."""
    return _cycles(parts_of(model), array, clocks, wait)


def _cycles(parts: Iterable[Product], array: SystolicArray, clocks: Clocks, wait: int = 1) -> int:
    folded = [(part.count, Folding(array, part.m, part.k, part.n)) for part in parts]
    return sum(n * int(clocks(fold.folds, fold.time, array, wait)) for n, fold in folded)


def _macs(parts: Iterable[Product]) -> int:
    return sum(part.macs for part in parts)


def busy(model: str, cycles: int, array: SystolicArray) -> float:
    return 100 * _macs(parts_of(model)) / (cycles * array.rows * array.cols)


def _by_model(counts: dict[str, Callable[[str], float]], show: Show = table) -> Picture:
    """A row for each model, a column for each count of its cycles."""
    rows = [[name, *(count(model) / 1e3 for count in counts.values())]
            for model, name in NAMES.items()]  # fmt: skip
    return show(rows, ["model", *(f"{head} (1000 cycles)" for head in counts)])


def shadow_table(clocks: Clocks) -> Picture:
    """The models on 32 x 32 cells: without shadow registers, with them, and with slow weights."""
    return _by_model({
        "no shadow": lambda model: on_clocks(model, square(32, shadow=False), clocks),
        "shadow": lambda model: on_clocks(model, square(32), clocks),
        "shadow, wait 8": lambda model: on_clocks(model, square(32), clocks, 8),
    })  # fmt: skip


def sizes_table(clocks: Clocks) -> Picture:
    """Two models on square arrays from 16 x 16 to 256 x 256, with shadow weights."""
    models, rows = ("resnet18", "mobilenet_v2"), []
    for side in SIDES:
        cycles = [on_clocks(model, square(side), clocks) for model in models]
        pairs = zip(models, cycles, strict=True)
        cells = [cell for m, c in pairs for cell in (c / 1e3, busy(m, c, square(side)))]
        rows.append([f"{side} × {side}", *cells])
    heads = [f"{NAMES[m]} {u}" for m in models for u in ("(1000 cycles)", "(% busy)")]
    return table(rows, ["array", *heads], best={heads[0]: "least", heads[2]: "least"})


def flows_table() -> Picture:
    """What stays and what moves, in each dataflow."""
    matrix = {"a": "activations a", "b": "weights b", "c": "sums c"}
    rows = [[f'{STAYS[kind]}, "{kind}"', flow.rows, flow.cols, flow.time,
             *(matrix[part] for part in (flow.stays, flow.right, flow.down))]
            for kind, flow in DATAFLOWS.items()]  # fmt: skip
    return table(rows, ["stationary", "along rows", "along columns", "in time", "stays",
                        "moves right", "moves down"])  # fmt: skip


def access_table(m: int, k: int, n: int) -> Picture:
    """Numbers that cross the edge of a 32 x 32 array, by matrix, and what they cost."""
    rows = []
    for kind in STAYS:
        traffic = accesses(m, k, n, SystolicArray(32, 32, dataflow=kind))
        edge = [traffic[name].sram_reads + traffic[name].sram_writes for name in "abc"]
        # 64 bits for 8 operands or 2 sums, from an SRAM of 32 KiB
        pico = SRAM_64_BITS[32 * 1024] * ((edge[0] + edge[1]) / 8 + edge[2] / 2)
        rows.append([STAYS[kind], *(one / 1e3 for one in edge), pico / 1e6])
    heads = ["a (1000 bytes)", "b (1000 bytes)", "c (1000 sums)"]
    return table(rows, ["stationary", *heads, "SRAM (µJ)"], best={"SRAM (µJ)": "least"})


def mac_energy(m: int, k: int, n: int) -> float:
    """Microjoule of the multiplications and additions."""
    return m * k * n * (PICOJOULE["int8 multiply"] + PICOJOULE["int32 add"]) / 1e6


def _on(model: str, array: SystolicArray) -> int:
    return total_cycles(parts_of(model), array)


def _bound(model: str) -> float:
    return _macs(parts_of(model)) / 1024


def kinds_table(clocks: Clocks, side: int) -> Picture:
    """MobileNetV2 by kind of layer on a square array with shadow weights."""
    every, rows = parts_of("mobilenet_v2"), []
    for name, parts in {"depthwise": [p for p in every if p.n == 1],
                        "all others": [p for p in every if p.n != 1]}.items():  # fmt: skip
        cycles, macs = _cycles(parts, square(side), clocks), _macs(parts)
        share = 100 * macs / (cycles * side * side)
        rows.append([name, sum(p.count for p in parts), macs / 1e6, cycles / 1e3, share])
    heads = ["products", "million MACs", "1000 cycles", "% busy"]
    return table(rows, [f"MobileNetV2 on {side} × {side}", *heads], exact=["products"])


def witnesses() -> tuple[Picture, str]:
    """One 4 x 4 x 4 product by definition: our count, our Verilog, SCALE-Sim's report. And a word
    on where the Verilog's numbers are from."""
    lines, word = [], "run just now" if installed() else BY_ICARUS.words
    counted = _by_icarus() if installed() else COUNTED
    for name, array in WITNESSED.items():
        report = REPORTED[name][0] if name in REPORTED else "no such option"
        kind = name.replace(name[:2], f"{STAYS[name[:2]]}-stationary", 1)
        lines.append([kind, closed.cycles(4, 4, 4, array), counted[name], str(report)])
    heads = ["formula (cycles)", "Verilog (cycles)", "SCALE-Sim's report (cycles)"]
    return table(lines, ["definition", *heads]), word


def _by_icarus() -> dict[str, int]:
    """The cycles of one product by our Verilog, by name of the array."""
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-9, 10, (4, 4), dtype=np.int8) for _ in range(2))
    counted = {}
    for name, array in WITNESSED.items():
        job = bench(a, b, array)
        results = icarus(job.sources, job.top, job.parameters, job.files)
        counted[name] = seen(results, a, b, array).cycles
    return counted


@maker("Icarus Verilog", "iverilog", "vvp", seconds=2)
def cycles_by_icarus() -> dict[str, str]:
    return {"cycles": in_rows(_by_icarus())}


def tpu_table(clocks: Clocks) -> Picture:
    """256 x 256 cells that get a row of weights every 5 clocks, by the rows of a batch."""
    rows = [[batch, *(100 * 300 * batch / int(clocks(300, batch, square(256), wait))
                      for wait in (1, 5))]
            for batch in (1, 32, 200, 640, 1280, 2560)]  # fmt: skip
    head = "rows in a batch"
    busy = ("a row of weights in each clock (% busy)", "every 5 clocks (% busy)")
    return table(rows, [head, *busy], exact=[head])


def bill(clocks: Clocks) -> Picture:
    """The models on 1024 cells, with each of the student's two counts, and the bound."""
    return _by_model({
        "32×32": lambda model: on_clocks(model, square(32, shadow=False), clocks),
        "and shadow weights": lambda model: on_clocks(model, square(32), clocks),
        "all cells busy": _bound,
    }, bill_of)  # fmt: skip


def packed_table(pack: Callable[[int, int, int, SystolicArray], int]) -> Picture:
    """MobileNetV2 on square arrays with shadow weights: a product for each channel, and packed."""
    rows = []
    for side in SIDES:
        array, packed = square(side), 0
        for p in parts_of("mobilenet_v2"):
            g = int(pack(p.count, p.m, p.k, array)) if p.n == 1 else 1
            for count, size in ((p.count // g, g), (1, p.count % g)):
                if size:
                    packed += count * closed.cycles(p.m, size * p.k, size * p.n, array)
        rows.append([f"{side} × {side}", _on("mobilenet_v2", array) / 1e3, packed / 1e3])
    heads = ["a product for each channel (1000 cycles)", "packed (1000 cycles)"]
    return table(rows, ["MobileNetV2", *heads], best=dict.fromkeys(heads, "least"))


def rows_table(rows: Callable[[int, int, int, int, int], tuple[int, int]]) -> Picture:
    """Numbers that two depthwise layers of MobileNetV2 read on each dataflow, on 32 columns."""
    lines = []
    for channels, side in ((144, 56), (960, 7)):
        for kind in STAYS:
            traffic = accesses(side * side, 9, 1, SystolicArray(32, 32, dataflow=kind))
            reads = [channels * traffic[name].sram_reads / 1e3 for name in "ab"]
            lines.append([f"{channels} channels, {side} × {side}", f"{STAYS[kind]}s", *reads])
        reads = [int(count) / 1e3 for count in rows(channels, side, side, 3, 32)]
        lines.append([f"{channels} channels, {side} × {side}", "rows of weights", *reads])
    return table(lines, ["depthwise 3 × 3", "what stays", "pixels (1000)", "weights (1000)"])
