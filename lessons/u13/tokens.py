"""Two programs for the teaching chip with wrong tokens, and what they do there.

    mended(RACE, {6: "wait=execute"})      the instructions, some of them with other tokens
    ran(program, latency)                  clocks, and whether DRAM holds what the text says
    listing(RACE)                          the text with a number before each instruction

Both multiply three pieces of an image, 16 pixels of 4 channels each, by the same 4 x 4 weights. The
pieces take two slots of `acts` in turns. Next room: `flows.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.isa_interp import interpret
from course_lib.accelerator.isa.text import assemble
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table

TEACHING = PRESETS["teaching"]
IMAGE, SUMS, SIZE = 208, 256, 1024  # bytes of image and weights, where sums begin, all of DRAM

STUCK = """\
ldw dram=192 weights=0 rows=4 bytes=4 pitch=4
lda dram=0 acts=0 h=1 w=16 bytes=4 step=4 line=64 signal=execute
lda dram=64 acts=256 h=1 w=16 bytes=4 step=4 line=64 signal=execute
preload weights=0 k=4 n=4 pitch=4 wait=load
matmul acts=0 h=1 w=16 step=4 line=64 k=4 n=4 accs=0 signal=store
stacc accs=0 dram=256 rows=16 n=4 pitch=16 wait=execute signal=execute
lda dram=128 acts=0 h=1 w=16 bytes=4 step=4 line=64 wait=execute signal=execute
matmul acts=256 h=1 w=16 step=4 line=64 k=4 n=4 accs=32 wait=load signal=store
stacc accs=32 dram=512 rows=16 n=4 pitch=16 wait=execute
matmul acts=0 h=1 w=16 step=4 line=64 k=4 n=4 accs=0 wait=load,store signal=load,store
stacc accs=0 dram=768 rows=16 n=4 pitch=16 wait=execute
halt
"""

RACE = """\
lda dram=0 acts=0 h=1 w=16 bytes=4 step=4 line=64 signal=execute
ldw dram=192 weights=0 rows=4 bytes=4 pitch=4
lda dram=64 acts=256 h=1 w=16 bytes=4 step=4 line=64 signal=execute
preload weights=0 k=4 n=4 pitch=4 wait=load
matmul acts=0 h=1 w=16 step=4 line=64 k=4 n=4 accs=0 signal=store
stacc accs=0 dram=256 rows=16 n=4 pitch=16 wait=execute signal=execute
lda dram=128 acts=0 h=1 w=16 bytes=4 step=4 line=64 signal=execute
matmul acts=256 h=1 w=16 step=4 line=64 k=4 n=4 accs=32 wait=load signal=store
stacc accs=32 dram=512 rows=16 n=4 pitch=16 wait=execute
matmul acts=0 h=1 w=16 step=4 line=64 k=4 n=4 accs=0 wait=load,store signal=store
stacc accs=0 dram=768 rows=16 n=4 pitch=16 wait=execute
halt
"""

PROGRAMS = {"stuck": STUCK, "race": RACE}
WORDS = {"stuck": 2, "race": 4}  # that may change
FASTEST = 354  # clocks of both when nothing waits without need, with a latency of SLOW
SLOW = 100


def mended(text: str, edits: Mapping[int, str]) -> list[Instruction]:
    """The program with other tokens at the instructions of `edits`. Raises a Fault for a text
    that is no tokens, and IndexError for an instruction that is not there."""
    program = assemble(text)
    for number, tokens in edits.items():
        plain = str(replace(program[number], wait=(), signal=()))
        program[number] = assemble(f"{plain} {tokens}")[0]
    return program


def words(before: Sequence[Instruction], after: Sequence[Instruction]) -> int:
    """How many engines more, or less, stand behind `wait` and `signal`."""
    return sum(
        len(set(getattr(old, key)) ^ set(getattr(new, key)))
        for old, new in zip(before, after, strict=True)
        for key in ("wait", "signal")
    )


def with_latency(clocks: int) -> Chip:
    """The teaching chip with a DMA that answers after so many clocks."""
    return replace(TEACHING, dma_latency=clocks)


def ran(program: Sequence[Instruction], chip: Chip, hazards: bool = False) -> tuple[Run, bool]:
    """The run of a program on random numbers, and whether it leaves the bytes in DRAM that the
    order of the text says. Raises a Fault for a deadlock and, with `hazards`, for a race."""
    memory = np.zeros(SIZE, np.int8)
    memory[:IMAGE] = np.random.default_rng(13).integers(-128, 128, IMAGE)
    due = memory.copy()
    interpret(program, due, chip)
    run = simulate(program, memory, chip, hazards)
    return run, bool((memory == due).all())


def listing(text: str) -> str:
    """The text with the number of each instruction."""
    return "\n".join(f"{n:>2}  {line}" for n, line in enumerate(text.splitlines()))


def report(program: Sequence[Instruction], chip: Chip = TEACHING, advice: bool = False) -> str:
    """What the simulator says: the clocks, or its fault, with its advice where that is wanted."""
    try:
        return f"{ran(program, chip, hazards=True)[0].total} clocks, no deadlock, no race"
    except Fault as fault:
        return str(fault) if advice else fault_text(fault)


def fault_text(fault: Fault) -> str:
    """A fault without what the simulator advises: that is the exercise."""
    return str(fault).rpartition("\n  look at: ")[0]


def latencies(program: Sequence[Instruction]) -> Picture:
    """The program with several latencies of the DMA, without the hazard check."""
    rows = []
    for clocks in (0, 5, 10, 20, 40, 100):
        run, right = ran(program, with_latency(clocks))
        rows.append([clocks, run.total, "right" if right else "wrong"])
    return table(rows, ["latency (clocks)", "clocks", "sums in DRAM"],
                 "Without the hazard check", exact=("clocks",))  # fmt: skip
