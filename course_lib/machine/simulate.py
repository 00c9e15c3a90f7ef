"""The processor at work: values, cycle by cycle.

    run(code, core, {"x": x, "out": out})   ->   Run(cycles=48, stalls=10, ...), and `out` is filled

It knows registers and when each is ready, nothing of graphs, trees or dependences: a compiler that
got one of those wrong shows here. Its cycles agree with `depends.starts`, which knows nothing of
values. Next room: `build.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.machine.core import STACK, Core, Instr, leaves


@dataclass(frozen=True)
class Run:
    """What a run cost.

    cycles  from the start of the first instruction to that of the last, both included
    stalls  cycles in which no instruction started
    starts  the cycle in which each instruction started
    spills  loads from the stack and stores to it
    """

    instructions: int
    cycles: int
    stalls: int
    spills: int
    starts: tuple[int, ...]


def run(code: Sequence[Instr], core: Core, arrays: Mapping[str, np.ndarray],
        lanes: int | None = None) -> Run:  # fmt: skip
    """Execute a program on arrays of float32, which stores change in place.

    lanes  the width of its vectors; None: the core's. ValueError for a register that the core does
           not have or that was never written, and for memory outside an array.
    """
    machine = _Machine(core, lanes or core.lanes, arrays)
    starts: list[int] = []
    cycle = started = 0
    for instr in code:
        ready = machine.ready(instr)
        if ready > cycle:
            cycle, started = ready, 0
        elif started == core.width:
            cycle, started = cycle + 1, 0
        machine.execute(instr, cycle)
        starts.append(cycle)
        started += 1
    cycles = starts[-1] + 1 if starts else 0
    spills = sum(1 for instr in code if instr.at and instr.at[0] == STACK)
    return Run(len(code), cycles, cycles - len(set(starts)), spills, tuple(starts))


class _Machine:
    """Registers, memory, and the cycle from which each of them can be read."""

    def __init__(self, core: Core, lanes: int, arrays: Mapping[str, np.ndarray]) -> None:
        self.lanes = lanes
        self.names = {f"f{k}" for k in range(core.registers)}
        self.registers: dict[str, np.ndarray] = {}
        self.memory = {name: array.reshape(-1) for name, array in arrays.items()}
        self.stack: dict[int, np.ndarray] = {}
        self.when: dict[str, int] = {}  # a register, and when what is written last is there
        self.stored: dict[tuple[str, int], int] = {}  # an element of memory, likewise

    def ready(self, instr: Instr) -> int:
        """The first cycle in which its operands, and the register that it writes, are ready."""
        names = [*instr.reads, *([instr.into] if instr.into else [])]
        for name in names:
            if name not in self.names:
                raise ValueError(f"{instr}: the core has no register {name!r}")
        cells = [self.stored.get(cell, 0) for cell in self.cells(instr)]
        return max([self.when.get(name, 0) for name in names] + cells, default=0)

    def cells(self, instr: Instr) -> list[tuple[str, int]]:
        if instr.at is None:
            return []
        buffer, first = instr.at
        return [(buffer, first + k) for k in range(1 if instr.op == "bc" else self.lanes)]

    def execute(self, instr: Instr, cycle: int) -> None:
        row = instr.row
        for name in instr.reads:
            if name not in self.registers:
                raise ValueError(f"{instr}: nothing was written to {name}")
        operands = [self.registers[name] for name in instr.reads]
        if instr.writes_memory:
            self.store(instr, operands[0], cycle + row.latency)
            return
        given = iter(operands)
        taken = [next(given) if leaf == "_" else self.taken(instr) for leaf in leaves(row.pattern)]
        with np.errstate(all="ignore"):
            value = np.asarray(row.numpy(*taken), np.float32)
        self.registers[instr.into] = value
        self.when[instr.into] = cycle + row.latency

    def taken(self, instr: Instr) -> np.ndarray:
        """The operand that is no register."""
        if instr.at is None:
            return np.full(self.lanes, instr.number, np.float32)
        buffer, first = instr.at
        if buffer == STACK:
            if first not in self.stack:
                raise ValueError(f"{instr}: nothing was stored there")
            return self.stack[first]
        self.inside(instr)
        if instr.op == "bc":
            return np.full(self.lanes, self.memory[buffer][first], np.float32)
        return self.memory[buffer][first : first + self.lanes].copy()

    def store(self, instr: Instr, value: np.ndarray, ready: int) -> None:
        assert instr.at is not None
        buffer, first = instr.at
        if buffer == STACK:
            self.stack[first] = value
        else:
            self.inside(instr)
            self.memory[buffer][first : first + self.lanes] = value
        self.stored |= dict.fromkeys(self.cells(instr), ready)

    def inside(self, instr: Instr) -> None:
        buffer, first = instr.at or ("", 0)
        last = self.cells(instr)[-1][1]
        if buffer not in self.memory or first < 0 or last >= self.memory[buffer].size:
            raise ValueError(f"{instr}: that is outside {buffer}")
