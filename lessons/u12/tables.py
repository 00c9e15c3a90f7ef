"""The tables of unit 12: cycles and accesses of the course's models, and what others report."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from course_lib.accelerator.array import closed
from course_lib.accelerator.array.access import accesses
from course_lib.accelerator.array.dataflow import DATAFLOWS, Folding
from course_lib.accelerator.array.rtl import bench, seen
from course_lib.accelerator.systolic import STAYS, SystolicArray
from course_lib.accelerator.trace.energy import PICOJOULE, SRAM_64_BITS
from course_lib.accelerator.workload import Product, products
from course_lib.bridges.icarus import icarus, installed
from course_lib.compiler import read
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.models import example_inputs
from course_lib.models.traced import traced
from lessons.bill import bill_of
from lessons.recorded import recorded

SIDES = (16, 32, 64, 128, 256)
NAMES = {"mlp": "perceptron", "block": "transformer block", "resnet18": "ResNet-18",
         "mobilenet_v2": "MobileNetV2"}  # fmt: skip
Clocks = Callable[[int, int, SystolicArray, int], int]

BY_ICARUS, BY_SCALESIM = (recorded(__file__, f"{tool}.txt") for tool in ("icarus", "scalesim"))
# Cycles that our Verilog counted for [4, 4] x [4, 4] on 4 x 4 cells.
COUNTED: dict[str, int] = BY_ICARUS.data("cycles")
# SCALE-Sim on the same: "Compute cycles" and "Overall utilization" of its report ("Compute
# utilization" is 40 % for "os"). The package has requirements of its own and is not installed here.
REPORTED = {name: tuple(pair) for name, pair in BY_SCALESIM.data("report").items()}


@functools.cache
def parts_of(model: str) -> tuple[Product, ...]:
    return tuple(products(read(traced(model), example_inputs(model))))


def on_clocks(model: str, array: SystolicArray, clocks: Clocks, wait: int = 1) -> int:
    """Cycles of a model by an answer to `u12.clocks`."""
    total = 0
    for part in parts_of(model):
        folding = Folding(array, part.m, part.k, part.n)
        total += part.count * int(clocks(folding.folds, folding.time, array, wait))
    return total


def busy(model: str, cycles: int, array: SystolicArray) -> float:
    macs = sum(part.macs for part in parts_of(model))
    return 100 * macs / (cycles * array.rows * array.cols)


def shadow_table(clocks: Clocks) -> Picture:
    """The models on 32 x 32 cells: without shadow registers, with them, and with slow weights."""
    plain = SystolicArray(32, 32, dataflow="ws")
    shadow = SystolicArray(32, 32, dataflow="ws", shadow=True)
    rows = []
    for model, name in NAMES.items():
        counts = [
            on_clocks(model, array, clocks, wait)
            for array, wait in ((plain, 1), (shadow, 1), (shadow, 8))
        ]
        rows.append([name, *(count / 1e3 for count in counts)])
    units = "(1000 cycles)"
    heads = [f"no shadow {units}", f"shadow {units}", f"shadow, wait 8 {units}"]
    return table(rows, ["model", *heads])


def sizes_table(clocks: Clocks) -> Picture:
    """Two models on square arrays from 16 x 16 to 256 x 256, with shadow weights."""
    rows = []
    for side in SIDES:
        array = SystolicArray(side, side, dataflow="ws", shadow=True)
        row: list[str | int | float] = [f"{side} × {side}"]
        for model in ("resnet18", "mobilenet_v2"):
            cycles = on_clocks(model, array, clocks)
            row += [cycles / 1e3, busy(model, cycles, array)]
        rows.append(row)
    heads = [f"{NAMES[m]} {u}" for m in ("resnet18", "mobilenet_v2")
             for u in ("(1000 cycles)", "(% busy)")]  # fmt: skip
    best = {heads[0]: "least", heads[2]: "least"}
    return table(rows, ["array", *heads], best=best)


def flows_table() -> Picture:
    """What stays and what moves, in each dataflow."""
    matrix = {"a": "activations a", "b": "weights b", "c": "sums c"}
    rows = [
        [f'{STAYS[kind]}, "{kind}"', flow.rows, flow.cols, flow.time, matrix[flow.stays],
         matrix[flow.right], matrix[flow.down]]
        for kind, flow in DATAFLOWS.items()
    ]  # fmt: skip
    return table(rows, ["stationary", "along rows", "along columns", "in time", "stays",
                        "moves right", "moves down"])  # fmt: skip


def access_table(m: int, k: int, n: int) -> Picture:
    """Numbers that cross the edge of a 32 x 32 array, by matrix, and what they cost."""
    rows = []
    for kind in STAYS:
        found = accesses(m, k, n, SystolicArray(32, 32, dataflow=kind))
        edge = [found[name].sram_reads + found[name].sram_writes for name in "abc"]
        # 64 bits for 8 operands or 2 sums, from an SRAM of 32 KiB
        pico = SRAM_64_BITS[32 * 1024] * ((edge[0] + edge[1]) / 8 + edge[2] / 2)
        rows.append([STAYS[kind], *(one / 1e3 for one in edge), pico / 1e6])
    heads = ["a (1000 bytes)", "b (1000 bytes)", "c (1000 sums)"]
    return table(rows, ["stationary", *heads, "SRAM (µJ)"], best={"SRAM (µJ)": "least"})


def mac_energy(m: int, k: int, n: int) -> float:
    """Microjoule of the multiplications and additions."""
    return m * k * n * (PICOJOULE["int8 multiply"] + PICOJOULE["int32 add"]) / 1e6


def chosen_table(choose: Callable[[int, int, int, int], SystolicArray]) -> Picture:
    """Each model on one array of 1024 cells, and with the chosen array for each of its products."""
    arrays = [SystolicArray(32, 32, dataflow=kind) for kind in STAYS]
    rows = []
    for model, name in NAMES.items():
        parts = parts_of(model)
        each = [sum(p.count * closed.cycles(p.m, p.k, p.n, a) for p in parts) for a in arrays]
        mine = sum(p.count * closed.cycles(p.m, p.k, p.n, choose(p.m, p.k, p.n, 1024))
                   for p in parts)  # fmt: skip
        bound = sum(p.macs for p in parts) / 1024
        rows.append([name, *(one / 1e3 for one in (*each, mine, bound))])
    heads = [f"32×32, {STAYS[kind]}" for kind in STAYS] + ["chosen for each", "all cells busy"]
    return table(rows, ["model", *(f"{head} (1000 cycles)" for head in heads)])


def kinds_table(clocks: Clocks, side: int) -> Picture:
    """MobileNetV2 by kind of layer on a square array with shadow weights."""
    array = SystolicArray(side, side, dataflow="ws", shadow=True)
    groups = {"depthwise": [], "all others": []}
    for part in parts_of("mobilenet_v2"):
        groups["depthwise" if part.n == 1 else "all others"].append(part)
    rows = []
    for name, parts in groups.items():
        cycles = sum(p.count * int(clocks(f.folds, f.time, array, 1)) for p in parts
                     for f in [Folding(array, p.m, p.k, p.n)])  # fmt: skip
        macs = sum(p.macs for p in parts)
        share = 100 * macs / (cycles * side * side)
        rows.append([name, sum(p.count for p in parts), macs / 1e6, cycles / 1e3, share])
    heads = ["products", "million MACs", "1000 cycles", "% busy"]
    return table(rows, [f"MobileNetV2 on {side} × {side}", *heads], exact=["products"])


def witnesses() -> tuple[Picture, str]:
    """One 4 x 4 x 4 product by definition: our count, our Verilog, SCALE-Sim's report. And a word
    on where the Verilog's numbers are from."""
    kinds = {"os": {}, "os, drain": {"drain": True}, "ws": {}, "ws, shadow": {"shadow": True},
             "is": {}}  # fmt: skip
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-9, 10, (4, 4), dtype=np.int8) for _ in range(2))
    rows, word = [], "run just now" if installed() else BY_ICARUS.words
    for name, more in kinds.items():
        array = SystolicArray(4, 4, dataflow=name[:2], **more)
        ours = closed.cycles(4, 4, 4, array)
        verilog = COUNTED[name]
        if installed():
            job = bench(a, b, array)
            run = seen(icarus(job.sources, job.top, job.parameters, job.files), a, b, array)
            verilog = run.cycles
        report = REPORTED[name][0] if name in REPORTED else "no such option"
        rows.append([name.replace(name[:2], f"{STAYS[name[:2]]}-stationary", 1), ours, verilog,
                     str(report)])  # fmt: skip
    return table(rows, ["definition", "formula (cycles)", "Verilog (cycles)",
                        "SCALE-Sim's report (cycles)"]), word  # fmt: skip


def tpu_table(clocks: Clocks) -> Picture:
    """256 x 256 cells that get a row of weights every 5 clocks, by the rows of a batch."""
    array, folds = SystolicArray(256, 256, dataflow="ws", shadow=True), 300
    rows = []
    for batch in (1, 32, 200, 640, 1280, 2560):
        share = [100 * folds * batch / int(clocks(folds, batch, array, wait)) for wait in (1, 5)]
        rows.append([batch, *share])
    heads = [
        "rows in a batch",
        "a row of weights in each clock (% busy)",
        "every 5 clocks (% busy)",
    ]
    return table(rows, heads, exact=heads[:1])


def bill(clocks: Clocks, choose: Callable[[int, int, int, int], SystolicArray]) -> Picture:
    """The models on 1024 cells, with each of the student's two counts, and the bound."""
    rows = []
    for model, name in NAMES.items():
        parts = parts_of(model)
        plain, shadow = (
            on_clocks(model, SystolicArray(32, 32, dataflow="ws", shadow=more), clocks)
            for more in (False, True)
        )
        mine = sum(p.count * closed.cycles(p.m, p.k, p.n, choose(p.m, p.k, p.n, 1024))
                   for p in parts)  # fmt: skip
        bound = sum(p.macs for p in parts) / 1024
        rows.append([name, *(one / 1e3 for one in (plain, shadow, mine, bound))])
    heads = ["32×32", "and shadow weights", "chosen for each, no shadow", "all cells busy"]
    return bill_of(rows, ["model", *(f"{head} (1000 cycles)" for head in heads)])


def packed_table(pack: Callable[[int, int, int, SystolicArray], int]) -> Picture:
    """MobileNetV2 on square arrays with shadow weights: a product for each channel, and packed."""
    rows = []
    for side in SIDES:
        array = SystolicArray(side, side, dataflow="ws", shadow=True)
        apart = sum(p.cycles(array) for p in parts_of("mobilenet_v2"))
        packed = 0
        for p in parts_of("mobilenet_v2"):
            g = int(pack(p.count, p.m, p.k, array)) if p.n == 1 else 1
            whole, left = divmod(p.count, g)
            sizes = [(whole, g), (1, left)] if left else [(whole, g)]
            packed += sum(count * closed.cycles(p.m, one * p.k, one * p.n, array)
                          for count, one in sizes)  # fmt: skip
        rows.append([f"{side} × {side}", apart / 1e3, packed / 1e3])
    heads = ["a product for each channel (1000 cycles)", "packed (1000 cycles)"]
    return table(rows, ["MobileNetV2", *heads], best=dict.fromkeys(heads, "least"))
