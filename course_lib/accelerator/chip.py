"""What the chip is made of: one description, printed with every number that it leads to.

    print(PRESETS["npu"])            # every size, width and latency, in words
    replace(PRESETS["npu"], dma_bytes=32)         # a faster memory; dataclasses.replace

    DRAM ══ one DMA port ══╦═► weights SRAM ─► array of rows x cols cells ─► accumulators
                           ╠═► activations SRAM ─┘▲                              │
                           ╠═► parameters (bias, scale) ────► output pipeline ◄──┘
                           ╚══◄ activations SRAM ◄────────────────┘

Next room: `isa/instructions.py`, what the chip can be told to do.

Reading path of the chip, 4 of 12; next: `accelerator/compile/product.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from course_lib.arguments import check_fields

DRAM, WEIGHTS, ACTS, ACCS, PARAMS = "dram", "weights", "acts", "accs", "params"
SRAMS = (WEIGHTS, ACTS, ACCS, PARAMS)
KIB = 1024
# What the fields of instructions can say or address.
MOST = {"rows": 4095, "cols": 4095, "weights": 1 << 24, "acts": 1 << 24, "accs": 1 << 16,
        "params": 1 << 12}  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """A machine. The numbers without a unit in their line are counts.

    rows, cols     cells of the array; a cell does one int8 multiply-accumulate in a clock
    shadow         weights for the next tile move in while this tile is computed
    drain          an output-stationary tile keeps the array for the `rows` clocks in which its sums
                   move out; without, they do so while the next one is computed
    weights, acts  bytes of the two SRAMs for operands
    accs           rows of `cols` int32 sums
    params         entries of `cols` int32 biases and `cols` float32 scales
    banks          equal parts of weights, acts and accs, each for one engine at a time
    dma_bytes      bytes that the port to DRAM moves in a clock, in one direction
    dma_latency    clocks from a request until its first byte is there
    queue          instructions that wait in front of each engine; one is fetched in a clock
    ghz            nominal clock frequency, GHz; only turns clocks into seconds

    Ports: the engine that has a bank reads and writes it in the same clock: `preload` beside
    `matmul_os` takes two rows of weights, `add` reads a row of sums and writes one. A real bank
    would need two ports for that, or be two banks. Other engines wait until the instruction is done
    (an interlock: `core/needs.py`).

    Never counted: fetching instructions from memory (`trace/counters.py` has their bytes), refresh
    and pages of DRAM, bursts that begin at odd addresses, turning the port from reading to writing,
    the latency of a store.
    """

    name: str = "chip"
    rows: int = 32
    cols: int = 32
    shadow: bool = True
    drain: bool = True
    weights: int = 128 * KIB
    acts: int = 64 * KIB
    accs: int = 1024
    params: int = 64
    banks: tuple[int, int, int] = (4, 8, 4)
    dma_bytes: int = 16
    dma_latency: int = 100
    queue: int = 64
    ghz: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        for field in fields(self):
            if field.type == "int":
                self._check_count(field.name, 0 if field.name == "dma_latency" else 1)
        if len(self.banks) != 3 or any(b < 1 for b in self.banks) or sum(self.banks) > 60:
            want = "banks of weights, acts and accs, at most 60 together"
            raise ValueError(f"{self.name}: {want}, got {self.banks}")
        for memory, banks in zip(SRAMS, self.banks, strict=False):
            size = self.accs if memory == ACCS else self.size(memory)  # rows stay whole
            if size % banks:
                raise ValueError(f"{self.name}: {memory} has {size}, not a multiple of {banks}")
        if not 0 < self.ghz < math.inf:
            raise ValueError(f"{self.name}: ghz is above zero, got {self.ghz}")

    def _check_count(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if value < least:
            raise ValueError(f"{self.name}: {name} is a whole number >= {least}, got {value!r}")
        if value > MOST.get(name, value):
            most = f"{name} is at most {MOST[name]:,}, what its field in an instruction can say"
            raise ValueError(f"{self.name}: {most}; got {value:,}")

    def size(self, memory: str) -> int:
        """How much a memory of the chip holds: bytes; of ACCS and PARAMS, int32 words."""
        sizes: dict[str, int] = {WEIGHTS: self.weights, ACTS: self.acts}
        sizes |= {ACCS: self.accs * self.cols, PARAMS: self.params * 2 * self.cols}
        return sizes[memory]

    def bank_count(self, memory: str) -> int:
        """Parts of an SRAM that can be in use by different engines; DRAM has one port instead."""
        return (*self.banks, 1)[SRAMS.index(memory)]

    @property
    def macs(self) -> int:
        """Multiply-accumulates in a clock, at most."""
        return self.rows * self.cols

    def __str__(self) -> str:
        banks = dict(zip(SRAMS, self.banks, strict=False))
        weights = "with shadow weights" if self.shadow else "without shadow weights"
        drain = "drain counted" if self.drain else "drain not counted"
        return "\n".join([
            f"{self.name}: {self.rows}×{self.cols} cells, int8 × int8 → int32",
            f"  array         weight-stationary {weights}, or output-stationary ({drain})",
            f"  weights       {self.weights:,} B in {banks[WEIGHTS]} banks",
            f"  activations   {self.acts:,} B in {banks[ACTS]} banks",
            f"  accumulators  {self.accs:,} rows of {self.cols} int32"
            f" ({self.accs * self.cols * 4:,} B) in {banks[ACCS]} banks",
            f"  parameters    {self.params:,} entries of {self.cols} biases and scales"
            f" ({self.params * self.cols * 8:,} B)",
            f"  DMA           one port, {self.dma_bytes} B a clock, latency"
            f" {self.dma_latency} clocks",
            f"  queues        {self.queue} instructions before each engine, one fetched a clock",
            f"  clock         {self.ghz:g} GHz, nominal",
            "  counted       weight load, fill, drain, DMA, waiting; whole tiles",
            "  not counted   fetching instructions; refresh, pages and alignment of DRAM,"
            " turning its port round, the latency of stores",
        ])  # fmt: skip


PRESETS = {
    "npu": Chip("npu"),
    "teaching": Chip(
        "teaching", 4, 4, weights=1 * KIB, acts=1 * KIB, accs=64, params=16, banks=(2, 4, 2),
        dma_bytes=4, dma_latency=10, queue=4,
    ),
    "scalesim": Chip(
        "scalesim", shadow=False, drain=False, weights=64 * KIB, accs=512,
    ),
    "rtl": Chip("rtl", 4, 4),
}  # fmt: skip
