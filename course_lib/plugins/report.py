"""What a compiler did with our chip: the same object from every door.

    outputs, report = plug(integers, [x], PRESETS["npu"])
    report.macs_share, report.cycles, report.dram_bytes, report.refusals
    report.ran, report.differing      ->   3, ()     three pieces ran there, none gave other bits

A door is a function `plug(integers, inputs, chip)`: an integer graph (`passes/quantize/to_int8.py`)
goes through another compiler, which gives to the chip what the chip's description lets it give.
Clocks and bytes are those of the simulator. What the chip computes is whole numbers, so each piece
of work that it has done is compared with its definition, bit for bit; what another compiler
computes around it may be floats. Next room: `ours.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from course_lib.accelerator.compile.report import DEFINITION


@dataclass(frozen=True)
class PlugLayer:
    """One product or other piece of work on the chip: useful multiply-accumulates, clocks, and
    bytes over the port to DRAM, both ways."""

    name: str
    kind: str
    macs: int
    cycles: int
    dram_bytes: int


@dataclass(frozen=True)
class PlugReport:
    """What went to the chip, what it cost there, and what stayed away.

    into            the compiler: "ours", "tvm", "tinygrad"
    subgraphs       pieces that cross to the chip as one: parts, regions or kernels
    macs            multiply-accumulates of the whole model's convolutions and matrix products
    macs_offloaded  those of them that the chip does
    cycles          clocks of the chip, the host's part not counted
    dram_bytes      what crosses the chip's port, both ways
    refusals        each op that stayed away, and why
    notes           what a reader has to know to compare the numbers with another door's
    ran             pieces of work that the chip did while the model ran
    differing       those of them whose bits are not those of their definition, by name

    Two reports are equal if they count the same; the last two say what a run has shown.
    """

    into: str
    chip: str
    subgraphs: int
    macs: int
    macs_offloaded: int
    cycles: int
    dram_bytes: int
    refusals: tuple[str, ...]
    layers: tuple[PlugLayer, ...]
    notes: tuple[str, ...] = ()
    ran: int = field(default=0, compare=False)
    differing: tuple[str, ...] = field(default=(), compare=False)

    @property
    def macs_share(self) -> float:
        """The chip's part of all multiply-accumulates; 0 if there are none."""
        return self.macs_offloaded / max(1, self.macs)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        lists = ("refusals", "layers", "notes", "differing")
        plain = {name: value for name, value in vars(self).items() if name not in lists}
        return {
            **plain,
            "macs_share": self.macs_share,
            "definition": DEFINITION,
            "layers": [asdict(layer) for layer in self.layers],
            "refusals": list(self.refusals),
            "notes": list(self.notes),
            "differing": list(self.differing),
        }

    def __str__(self) -> str:
        lines = [
            f"into {self.into}: {self.subgraphs} subgraphs on {self.chip}, "
            f"{self.macs_share:.1%} of {self.macs:,} multiply-accumulates",
            f"{self.cycles:,} clocks, {self.dram_bytes:,} bytes over the port",
        ]
        width = max((len(layer.name) for layer in self.layers), default=0)
        lines += [
            f"  {layer.name:<{width}}  {layer.kind:<8} {layer.macs:>13,} MACs"
            f" {layer.cycles:>11,} clocks {layer.dram_bytes:>11,} bytes"
            for layer in self.layers
        ]
        lines += [f"on the processor: {why}" for why in self.refusals]
        return "\n".join([*lines, *self.notes, DEFINITION])

    __repr__ = __str__

    @property
    def exactness(self) -> str:
        """What the chip did, beside the definition of it."""
        pieces = f"{self.ran} piece{'' if self.ran == 1 else 's'} of work on the chip"
        if self.differing:
            wrong = ", ".join(self.differing)
            return f"{pieces}, {len(self.differing)} NOT with the bits of the interpreter: {wrong}"
        return f"{pieces}, with the bits of the interpreter" if self.ran else "nothing on the chip"


def same_bits(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> bool:
    """Are these the same results? NaN is what NaN is."""
    return all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(first, second, strict=True)
    )
