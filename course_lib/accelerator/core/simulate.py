"""Run a program on the chip: values, clocks, stalls; or what is wrong with it.

    run = simulate(program, dram, PRESETS["npu"])
    print(run)      ->   12,345 clocks at 1 GHz; array busy 71 % of them; waits: ...

`times` alone is much faster where only the clocks are wanted, as in a search. Next room:
`course_lib/accelerator/trace`.

Reading path of the chip, 11 of 12; next: `accelerator/core/clockwork.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.core.clockwork import Times, clockwork
from course_lib.accelerator.core.hazards import check_hazards
from course_lib.accelerator.core.needs import FREE, find_needs
from course_lib.accelerator.isa.instruction import ENGINES, Instruction
from course_lib.accelerator.isa.state import State


@dataclass(frozen=True, eq=False)
class Run:
    """A program that ran on a chip. `state` is what it left behind; `useful`, if it is known, are
    the multiply-accumulates that each part of the model asks for, by its origin."""

    chip: Chip
    program: Sequence[Instruction]
    times: Times
    state: State
    useful: Mapping[tuple[str, ...], int] | None = None

    @property
    def total(self) -> int:
        """Clocks until every engine is done."""
        return self.times.total

    def stalls(self, engine: str) -> dict[str, int]:
        """Clocks of an engine by what it did: `busy`, or one cause. They sum to `total`."""
        return stalls(self.times, engine)

    def __str__(self) -> str:
        lines = [f"{self.total:,} clocks, {self.total / self.chip.ghz / 1e3:,.3f} us nominal"]
        for engine in ENGINES:
            parts = self.stalls(engine).items()
            shares = ", ".join(f"{n} {c / max(1, self.total):.1%}" for n, c in parts)
            lines.append(f"  {engine:<8} {shares}")
        if self.state.overflows:
            lines.append(f"  {self.state.overflows:,} sums wrapped at 32 bits")
        for (giver, taker), count in self.times.left.items():
            lines.append(f"  {count} tokens from {giver} to {taker} were never taken")
        return "\n".join([*lines, str(self.chip)])


def simulate(
    program: Sequence[Instruction], dram: np.ndarray, chip: Chip, hazards: bool = True
) -> Run:
    """Run a program on a flat int8 `dram`, which it changes, each instruction when it starts.

    Raises a Fault for an address out of bounds, a deadlock, and, unless `hazards` is False, for a
    race between engines; nothing of `dram` is changed then. Without that check a race does what
    the timing makes of it, and a whole one: who starts second waits for the bank of the first. On a
    real chip, where banks are shared clock by clock, it may also see half of what the first does.
    """
    needs = find_needs(program, chip, len(dram))
    clocks = clockwork(program, needs, chip)
    if hazards:
        check_hazards(program, needs, clocks, chip, len(dram))
    state = State(chip, dram)
    for number in clocks.order:
        program[number].run(state)
    return Run(chip, program, clocks, state)


def times(program: Sequence[Instruction], chip: Chip, free: Sequence[str] = ()) -> Times:
    """Only the clocks. What `free` names takes none: dma, weights, drain, output, banks, fetch."""
    unknown = [name for name in free if name not in FREE]
    if unknown:
        raise ValueError(f"free is of {', '.join(FREE)}, got {', '.join(unknown)}")
    needs = find_needs(program, chip, free=free)
    return clockwork(program, needs, chip, instant_fetch="fetch" in free)


def stalls(measured: Times, engine: str) -> dict[str, int]:
    """Clocks of an engine: `busy`, then its causes of waiting, the longest first."""
    number = ENGINES.index(engine)
    lost: Counter[str] = Counter()
    for gap in measured.gaps:
        if gap.engine == number:
            lost[gap.cause] += gap.end - gap.start
    return {"busy": measured.busy[number], **dict(lost.most_common())}
