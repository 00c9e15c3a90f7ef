"""What the three doors said of the transformer block, and tables of it.

    report("tinygrad")      ->   a PlugReport; recorded with `python -m course_lib plug`
    doors_table()           the block through each of them
    clocks_table()          where the clocks of tinygrad's way went

Counts of the simulator are the same on every machine, so they are recorded: the block in tinygrad
takes longer than a cell should, and TVM need not be installed. Next room: wild.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.plugins.report import PlugLayer, PlugReport
from course_lib.recorded import recorded

BY = {tool: recorded(__file__, f"{tool}.txt") for tool in ("ours", "tvm", "tinygrad")}
TVM = BY["tvm"].version.partition(".post")[0]
DOORS = {"ours": "our partitioner", "tvm": f"TVM {TVM}", "tinygrad": BY["tinygrad"].tool,
         "tinygrad alone": "the same without our rule"}  # fmt: skip
ATTENTION = ("query", "key", "value", "out")
SHAPES = {f"attention.{name}": (128, 256, 256) for name in ATTENTION}  # m, k, n of each product
SHAPES |= {"mlp.0": (128, 256, 1024), "mlp.2": (128, 1024, 256)}  # with weights


@cache
def report(into: str) -> PlugReport:
    """The recorded report of a door, for the block in the chip's preset npu."""
    tool, _, alone = into.partition(" ")
    entries = BY[tool].data("report, without our rule" if alone else "report")
    entries["layers"] = tuple(PlugLayer(**layer) for layer in entries["layers"])
    entries |= {name: tuple(entries[name]) for name in ("refusals", "notes")}
    return PlugReport(**entries)


def opening_table() -> Picture:
    """The two sides of the opening question."""
    rows = [[DOORS[into], sum(layer.macs > 0 for layer in plug.layers), 100 * plug.macs_share,
             plug.cycles] for into in ("ours", "tinygrad") for plug in [report(into)]]  # fmt: skip
    heads = ["transformer block through", "products on the chip",
             "multiply-accumulates there (%)", "clocks"]  # fmt: skip
    return table(rows, heads, exact=("clocks",), title="recorded; counts of the simulator")


def refused(into: str = "ours", last: int = 7) -> str:
    """What a door refused of the block, the last lines."""
    lines = report(into).refusals
    return "\n".join([f"({len(lines) - last} lines before)", *lines[-last:]])


def doors_table() -> Picture:
    """The block through each door."""
    rows = [[name, plug.subgraphs, 100 * plug.macs_share, plug.cycles, plug.dram_bytes]
            for into, name in DOORS.items() for plug in [report(into)]]  # fmt: skip
    heads = ["transformer block through", "starts of the chip", "multiply-accumulates there (%)",
             "clocks", "bytes over the port"]  # fmt: skip
    exact = (heads[1], *heads[3:])
    return table(rows, heads, exact=exact, title="recorded; counts of the simulator")


def parts_of(plug: PlugReport) -> dict[str, int]:
    """Clocks of the six products that every door offloads, of attention's two, of the sums."""
    parts = {"products": 0, "attention": 0, "sums": 0}
    for layer in plug.layers:
        kind = "sums" if not layer.macs else "products" if layer.name in SHAPES else "attention"
        parts[kind] += layer.cycles
    return parts


def new_share() -> float:
    """Of the clocks that tinygrad's way takes more than ours, those of attention's products, %."""
    mine, theirs = report("ours"), report("tinygrad")
    return 100 * parts_of(theirs)["attention"] / (theirs.cycles - mine.cycles)


def clocks_table() -> Picture:
    """Where the clocks go, with the border of our door and with tinygrad's."""
    mine, theirs = parts_of(report("ours")), parts_of(report("tinygrad"))
    words = {"products": "the six products with weights", "attention": "attention's two products",
             "sums": "the two residual sums"}  # fmt: skip
    rows = [[words[k], mine[k], theirs[k], f"{theirs[k] - mine[k]:+,}"] for k in words]
    total = [sum(side.values()) for side in (mine, theirs)]
    rows.append(["all", *total, f"{total[1] - total[0]:+,}"])
    heads = ["clocks", "our partitioner", "tinygrad", "difference"]
    return table(rows, heads, exact=heads[1:])


def least_table(least: Callable[..., Any], chip: Chip = PRESETS["npu"]) -> Picture:
    """Each product with weights: bytes and clocks that were counted, beside the bounds."""
    mine, theirs = ({layer.name: layer for layer in report(into).layers}
                    for into in ("ours", "tinygrad"))  # fmt: skip
    rows = []
    for name, shape in SHAPES.items():
        around, inside = least(*shape, chip)
        rows.append([name, mine[name].dram_bytes, around, mine[name].cycles,
                     theirs[name].dram_bytes, inside, theirs[name].cycles])  # fmt: skip
    heads = ["layer", "our bytes", "your bound, layer (clocks)", "our clocks", "tinygrad's bytes",
             "your bound, product (clocks)", "tinygrad's clocks"]  # fmt: skip
    return table(rows, heads, "Counted bytes and clocks, beside your bounds", exact=heads[1:])
