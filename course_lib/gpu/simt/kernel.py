"""An entry, ready to be run: its pieces as steps, and where its variables lie.

    kernel = Kernel(module.entry("copy"))
    kernel.steps[0]          the steps of the first piece, as (number of the instruction, step)

Making it is also the check that everything in it is supported. Next room: `machine.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.gpu.ops import convert, floats, integers, predicates
from course_lib.gpu.ptx.flow import flow
from course_lib.gpu.ptx.liveness import outgoing
from course_lib.gpu.ptx.parts import (
    Address,
    Entry,
    Instruction,
    Operand,
    Pair,
    PtxError,
    Register,
    Vector,
)
from course_lib.gpu.ptx.types import bits_of
from course_lib.gpu.simt import access, across, atomics, copies, matrices
from course_lib.gpu.simt.memory import GLOBAL, GLOBAL_BASE, LOCAL, SHARED, Memory
from course_lib.gpu.simt.steps import step_of

# importing these enters their instructions into the tables of `ops/row.py` and `steps.py`
ROOMS = (integers, floats, predicates, convert, access, across, atomics, copies, matrices)

# bytes of a block and of a thread (CUDA C++ Programming Guide, compute capability 9.0)
MOST = {SHARED: 227 << 10, LOCAL: 512 << 10}
OWNER = {SHARED: "block", LOCAL: "thread"}


class Kernel:
    """What all launches of an entry have in common. `dynamic` is the size of its `.extern .shared`
    array in bytes."""

    def __init__(self, entry: Entry, dynamic: int = 0) -> None:
        self.entry = entry
        self.places = self._variables(dynamic)
        self.parameters = self._parameters()
        self.register_types = {
            r.name: bits_of(r.type.bits) for i in entry.instructions for r in _registers(i)
        }
        self.flow = flow(entry)
        self.keeps = outgoing(entry, self.flow) if self.flow.pieces else []
        self.steps = [
            [(n, s) for n in range(p.start, p.stop)
             if (s := step_of(entry.instructions[n], n, self)) is not None]
            for p in self.flow.pieces
        ]  # fmt: skip

    def _variables(self, dynamic: int) -> dict[str, int]:
        """Addresses of variables; those in shared and local memory count from 0 for each block and
        each thread, those of the module stand first in global memory."""
        ends = {SHARED: 0, LOCAL: 0}
        places: dict[str, int] = {}
        for v in sorted(self.entry.variables, key=lambda v: v.nbytes is None):
            if v.space in ends:
                at = -(-ends[v.space] // v.align) * v.align
                places[v.name] = at
                ends[v.space] = at + (dynamic if v.nbytes is None else v.nbytes)
        places |= self.fill(Memory(GLOBAL, GLOBAL_BASE))
        self.shared_bytes, self.local_bytes = ends[SHARED], ends[LOCAL]
        for space, most in MOST.items():
            if ends[space] > most:
                raise PtxError(f"{self.entry.name} needs {ends[space]:,} bytes of {space} memory",
                               look=f"a {OWNER[space]} has {most:,}")  # fmt: skip
        return places

    def fill(self, memory: Memory) -> dict[str, int]:
        """Put the variables of the module into an empty memory; their addresses."""
        return {
            v.name: memory.add(v.name, v.nbytes or 0,
                               np.frombuffer(v.data.ljust(v.nbytes or 0, b"\0"), np.uint8))
            for v in self.entry.variables
            if v.space in ("const", GLOBAL)
        }  # fmt: skip

    def _parameters(self) -> dict[str, int]:
        places, end = {}, 0
        for p in self.entry.parameters:
            size = p.type.nbytes
            end = -(-end // size) * size
            places[p.name] = end
            end += p.nbytes
        self.parameter_bytes = end
        return places

    def address_of(self, name: str, i: Instruction) -> int:
        """Where a variable lies in its own memory, or a parameter. PtxError if there is none."""
        if name in self.parameters:
            return self.parameters[name]
        if name not in self.places:
            raise PtxError(f"no variable {name}", i.line)
        return self.places[name]


def _registers(i: Instruction) -> list[Register]:
    found: list[Register] = [i.guard] if i.guard else []

    def look(operand: Operand | None) -> None:
        if isinstance(operand, Register):
            found.append(operand)
        elif isinstance(operand, Address):
            look(operand.base)
        elif isinstance(operand, Vector):
            for part in operand.parts:
                look(part)
        elif isinstance(operand, Pair):
            look(operand.first)
            look(operand.second)

    for operand in i.operands:
        look(operand)
    return found
