"""What a program does, counted: multiply-accumulates, bytes of each memory, and what each part of
the model had of the clocks.

    found = counters(run)
    found.macs, found.utilization, found.read["dram"], found.written["dram"]

Everything follows from the regions of the instructions. Only what a multiply-accumulate is good for
does not: an instruction multiplies the zeros beside the diagonal of depthwise weights like all
others. `issued` counts them, `macs` does not, if the run knows what its layers ask for. Next room:
`energy.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.accelerator.chip import ACCS, DRAM, PARAMS, SRAMS, Chip
from course_lib.accelerator.core.simulate import Run
from course_lib.accelerator.isa.execute import Matmul, MatmulOs
from course_lib.accelerator.isa.instruction import ENGINES, Instruction
from course_lib.accelerator.isa.word import WORD as WORD_BYTES

WORD = {ACCS: 4, PARAMS: 4}  # bytes of an element; of other memories 1


@dataclass(frozen=True, eq=False)
class Counters:
    """macs: those that the layers ask for (all, if the run does not know); issued: those that the
    array does. read, written: bytes by memory. rescaled: results of `act`; summed: of `vadd`.
    program_bytes: what would have to be fetched; it is in no other number here."""

    total: int
    macs: int
    issued: int
    utilization: float
    read: dict[str, int]
    written: dict[str, int]
    instructions: dict[str, int]
    rescaled: int
    summed: int
    program_bytes: int

    @property
    def dram(self) -> int:
        """Bytes over the port, both ways."""
        return self.read[DRAM] + self.written[DRAM]

    def __str__(self) -> str:
        lines = [f"{self.macs:,} MACs in {self.total:,} clocks, utilization {self.utilization:.1%}"]
        if self.issued != self.macs:
            lines.append(f"  {self.issued:,} MACs were issued, with zeros that no layer asks for")
        for memory in self.read:
            moved = f"{self.read[memory]:>14,} B read {self.written[memory]:>14,} B written"
            lines.append(f"  {memory:<8}{moved}")
        lines.append(f"  program {self.program_bytes:>14,} B, whose fetching is not counted")
        return "\n".join(lines)


@dataclass(frozen=True)
class Part:
    """What one place in the model had: clocks of the array (working for it, or waiting for it),
    the MACs that it asks for (see `Counters`), bytes over the port."""

    origin: tuple[str, ...]
    clocks: int
    macs: int
    dram: int


def counters(run: Run) -> Counters:
    """All counts of a run. Utilization is `macs` of all that the cells could have done."""
    read: dict[str, int] = dict.fromkeys((*SRAMS, DRAM), 0)
    written = dict(read)
    done: Counter[str] = Counter()
    for i in run.program:
        for regions, count in ((i.reads(run.chip), read), (i.writes(run.chip), written)):
            for region in regions:
                count[region.memory] += int(np.prod(region.counts)) * WORD.get(region.memory, 1)
        if i.name in ("act", "vadd"):
            done[i.name] += int(np.prod(i.writes(run.chip)[0].counts))
    issued = sum(macs_of(i) for i in run.program)
    macs = issued if run.useful is None else sum(run.useful.values())
    kinds = dict(Counter(i.name for i in run.program))
    share = macs / max(1, run.total * run.chip.macs)
    return Counters(
        run.total, macs, issued, share, read, written, kinds, rescaled=done["act"],
        summed=done["vadd"], program_bytes=WORD_BYTES * len(run.program),
    )  # fmt: skip


def by_origin(run: Run) -> list[Part]:
    """The parts of the model, in the order of the program; their clocks sum to the total.

    A clock of the array belongs to the product that it streams, or to the instruction that it
    waits for; what comes after the last one belongs to that one.
    """
    owner = _Owners(run.program)
    clocks: Counter[tuple[str, ...]] = Counter()
    macs, dram = Counter(clocks), Counter(clocks)
    array = ENGINES.index("execute")
    last = max((n for n, i in enumerate(run.program) if i.engine == "execute"), default=0)
    for n, i in enumerate(run.program[:-1]):
        macs[owner.of[n]] += macs_of(i)
        dram[owner.of[n]] += dram_of(i, run.chip)
        if isinstance(i, (Matmul, MatmulOs)):
            clocks[owner.of[n]] += run.times.busy_end[n] - run.times.start[n]
    for gap in run.times.gaps:
        if gap.engine == array:
            waits = gap.instruction if gap.instruction >= 0 else last
            clocks[owner.of[waits]] += gap.end - gap.start
    asked = macs if run.useful is None else run.useful
    return [Part(o, clocks[o], asked.get(o, macs[o]), dram[o]) for o in dict.fromkeys(owner.of)]


def macs_of(i: Any) -> int:
    """Multiply-accumulates of one instruction, whatever its weights are."""
    return i.h * i.w * i.k * i.n if isinstance(i, (Matmul, MatmulOs)) else 0


def dram_of(i: Instruction, chip: Chip) -> int:
    """Bytes that one instruction moves over the port."""
    regions = (*i.reads(chip), *i.writes(chip))
    return sum(int(np.prod(r.counts)) for r in regions if r.memory == DRAM)


class _Owners:
    """The origin of each instruction; of one without, that of the next one with one."""

    def __init__(self, program: Sequence[Instruction]) -> None:
        self.of: list[tuple[str, ...]] = [()] * (len(program) - 1)
        current: tuple[str, ...] = next((i.origin for i in reversed(program) if i.origin), ())
        for n in reversed(range(len(program) - 1)):
            current = program[n].origin or current
            self.of[n] = current
