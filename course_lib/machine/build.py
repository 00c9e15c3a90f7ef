"""A kernel's way to the small processor, in one call: the phases, and the order of the phases.

    built = build(kernel, Core(), BOTH)      select -> schedule -> allocate -> schedule
    measure(built, arrays)                   runs it

Scheduling before allocation knows only the dependences that the program really has, but it can make
more values live at once than there are registers. Scheduling after it keeps the registers as they
are, and what ties them. LLVM does both; we try two ways and keep the faster program. Next room:
`show.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.ir.loops.nest import Kernel
from course_lib.machine.block import block_of
from course_lib.machine.core import Core, Instr
from course_lib.machine.depends import check_order, cycles_of, needs_of
from course_lib.machine.list_schedule import list_schedule
from course_lib.machine.select import select
from course_lib.machine.simulate import Run, run
from course_lib.machine.spill import allocate

BEFORE, AFTER = "schedule before", "schedule after"
BOTH = (BEFORE, AFTER)


@dataclass(frozen=True)
class Built:
    """A kernel as a program of the small processor.

    selected  the instructions on registers without end, in the order of the program
    code      the instructions as they run
    spilled   values that live in memory
    """

    kernel: Kernel
    core: Core
    lanes: int
    selected: list[Instr]
    code: list[Instr]
    spilled: tuple[str, ...]


def build(kernel: Kernel, core: Core | None = None, phases: Sequence[str] | None = None) -> Built:
    """Compile a kernel.

    phases  when to schedule: any of `BEFORE` and `AFTER` the registers are chosen, or neither.
            None: only after, or both, whichever makes the program that takes fewer cycles
    """
    core = core or Core()
    if phases is None:
        return min((build(kernel, core, ways) for ways in ((AFTER,), BOTH)), key=_cycles)
    if not set(phases) <= set(BOTH):
        raise ValueError(f"phases are {BEFORE!r} and {AFTER!r}, got {list(phases)}")
    block = block_of(kernel, core.lanes)
    selected = select(block)
    code = scheduled(selected, core, block.lanes) if BEFORE in phases else selected
    allocation = allocate(code, replace(core, lanes=block.lanes))
    code = scheduled(allocation.code, core, block.lanes) if AFTER in phases else allocation.code
    return Built(kernel, core, block.lanes, selected, code, allocation.spilled)


def _cycles(built: Built) -> int:
    needs = needs_of(built.code, built.lanes)
    return cycles_of(range(len(needs)), needs, built.core.width)


def scheduled(code: list[Instr], core: Core, lanes: int) -> list[Instr]:
    """The code in the order of `list_schedule`. ValueError if that breaks a dependence."""
    needs = needs_of(code, lanes)
    order = list(list_schedule(needs, core.width))
    check_order(order, needs)
    return [code[n] for n in order]


def measure(built: Built, arrays: Mapping[str, np.ndarray] | None = None) -> Run:
    """Run the program, on the arrays given or on ones; only the values depend on them."""
    if arrays is None:
        params = built.kernel.params
        arrays = {p.name: np.ones(p.type.dims, np.float32) for p in params}
    return run(built.code, built.core, arrays, built.lanes)
