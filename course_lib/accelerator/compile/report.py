"""What a model costs on the chip: clocks, where they went, bytes, energy, layer by layer.

    print(chip_report(model))

    2,388,757 clocks on npu, 74.2% of what its cells could do; 100.0% of the MACs are on the chip
    execute  busy 76.7%, wait=load 10.7%, bank 8.0%, ...
    layer                clocks    roofline   distance  utilization  tile
    conv1               178,332     115,248       1.55        64.6%  4x112 pixels, 3 channels, ...

The roofline of a layer is what no program can beat: all cells busy, or image, weights and result
over the port once each, whatever takes longer. A layer has the clocks from when all before it was
done until it is; so one that was begun behind the back of another may have fewer than its roofline.
Next room: `course_lib/accelerator/trace`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.build import ChipProgram
from course_lib.accelerator.compile.offload import Offloaded
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.trace.counters import counters
from course_lib.accelerator.trace.energy import LEFT_OUT, energy
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table

DEFINITION = (
    "a cycle is a clock of the whole chip: weight load, fill, drain, DMA and waiting are in it; "
    "the parts on the processor are not"
)
HEADERS = ("layer", "kind", "clocks", "roofline", "distance", "utilization", "tile")


@dataclass(frozen=True)
class LayerRow:
    """clocks, bound (its roofline) and distance, the one divided by the other; useful MACs, and
    their share of what the cells could have done in that time."""

    name: str
    kind: str
    clocks: int
    bound: int
    distance: float
    macs: int
    utilization: float
    tile: str


@dataclass(frozen=True, eq=False)
class ChipReport:
    """Sums over all parts on the chip. stalls: clocks by engine and cause. energy: pJ by use."""

    chip: Chip
    cycles: int
    utilization: float
    macs: int
    chip_share: float
    instructions: int
    stalls: dict[str, dict[str, int]]
    dram_bytes: int
    energy: dict[str, float]
    layers: tuple[LayerRow, ...]
    refusals: tuple[str, ...]
    parts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        same = ("cycles", "utilization", "macs", "instructions", "stalls", "dram_bytes")
        return {
            "preset": self.chip.name,
            **{name: getattr(self, name) for name in same},
            "definition": DEFINITION,
            "roofline_cycles": sum(layer.bound for layer in self.layers),
            "offloaded_macs_share": self.chip_share,
            "energy_pj": self.energy,
            "energy_left_out": LEFT_OUT,
            "layers": [asdict(layer) for layer in self.layers],
            "refusals": list(self.refusals),
            "parts": list(self.parts),
        }

    def __str__(self) -> str:
        least = sum(layer.bound for layer in self.layers)
        lines = [
            f"{self.cycles:,} clocks on {self.chip.name}, {self.utilization:.1%} of what its cells "
            f"could do; {self.chip_share:.1%} of the multiply-accumulates are on the chip",
            f"{self.instructions:,} instructions, {self.dram_bytes:,} bytes over the port, "
            f"{sum(self.energy.values()) / 1e6:,.1f} uJ; "
            f"{self.cycles / max(1, least):.2f} times the roofline ({least:,})",
        ]
        for engine, causes in self.stalls.items():
            shares = (f"{name} {n / max(1, self.cycles):.1%}" for name, n in causes.items())
            lines.append(f"  {engine:<8} {', '.join(shares)}")
        lines += [f"  {part}" for part in self.parts]
        lines += [f"on the processor: {why}" for why in self.refusals]
        lines += aligned([HEADERS, *map(_cells, self.layers)])
        return "\n".join([*lines, DEFINITION, f"energy is counted {LEFT_OUT}"])

    __repr__ = __str__

    def picture(self) -> Picture:
        """The layers as a table."""
        rows = [
            [r.name, r.kind, r.clocks, r.bound, r.distance, 100 * r.utilization, r.tile]
            for r in self.layers
        ]
        headers = ["utilization (%)" if name == "utilization" else name for name in HEADERS]
        return table(rows, headers, f"Layers on {self.chip.name}", exact=("clocks", "roofline"))


def chip_report(model: Offloaded) -> ChipReport:
    """Everything is computed from the programs; nothing is run."""
    runs = [program.timing for program in model.programs]
    cycles = sum(run.total for run in runs)
    layers = tuple(row for program in model.programs for row in layer_rows(program))
    stalls: dict[str, Counter[str]] = {engine: Counter() for engine in ENGINES}
    used: Counter[str] = Counter()
    dram = 0
    for run in runs:
        counted = counters(run)
        dram += counted.dram
        used.update(energy(counted, model.chip))
        for engine in ENGINES:
            stalls[engine].update(run.stalls(engine))
    macs = sum(row.macs for row in layers)
    return ChipReport(
        model.chip, cycles, macs / max(1, cycles * model.chip.macs), macs,
        model.partition.chip_share, sum(len(program.program) for program in model.programs),
        {engine: dict(causes.most_common()) for engine, causes in stalls.items()}, dram, dict(used),
        layers, (*model.partition.notes, *map(str, model.partition.refusals)),
        tuple(f"part {k} ({p.device}): {len(p.graph.ops)} ops"
              for k, p in enumerate(model.partition.parts)),
    )  # fmt: skip


def layer_rows(program: ChipProgram) -> list[LayerRow]:
    """How far each layer of a program is from its roofline."""
    rows = []
    for layer, clocks in zip(program.layers, program.layer_clocks(), strict=True):
        share = layer.macs / max(1, clocks * program.chip.macs)
        rows.append(LayerRow(
            layer.name, layer.pattern, clocks, layer.bound, clocks / max(1, layer.bound),
            layer.macs, share, str(layer.tile or ""),
        ))  # fmt: skip
    return rows


def _cells(row: LayerRow) -> tuple[str, ...]:
    return (
        row.name, row.kind, f"{row.clocks:,}", f"{row.bound:,}", f"{row.distance:.2f}",
        f"{row.utilization:.1%}", row.tile,
    )  # fmt: skip


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns of text: words on the left, the four columns of numbers on the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if 2 <= k <= 5 else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
