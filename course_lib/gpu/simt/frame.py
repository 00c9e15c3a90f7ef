"""A group of warps that stand at the same place, and are run together.

    frame["%r1"]             the register of all its lanes: an array of 32 x warps
    frame.lanes              which of them are active; None where all are

A value that all lanes have alike is kept once: registers have the shape (1, 1), (1, warps),
(32, 1) or (32, warps), and numpy's broadcasting does the rest. Next room: `steps.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from course_lib.gpu.simt.memory import Memory

Array = np.ndarray
LANES = 32


class Warps(Protocol):
    """What a frame needs of the wave that its warps belong to (`wave.py`)."""

    registers: dict[str, Array]
    register_types: dict[str, np.dtype]
    count: int
    block_of: Array
    block_numbers: Array
    thread: Array
    watches: Sequence[Any]
    shared_stride: int

    def special(self, name: str, frame: Any) -> Array: ...

    def memory(self, space: str) -> Memory: ...

    def place(self, space: str, frame: Any, address: Array, nbytes: int, lanes: Array | None,
              number: int, kind: str) -> Array: ...  # fmt: skip


class Frame(dict[str, Array]):
    """The registers of some warps of a wave, by name. Those of the wave are looked up when they are
    read first; what is written stays here until `keep`."""

    def __init__(self, wave: Warps, warps: Array, lanes: Array | None, whole: bool) -> None:
        super().__init__()
        self.wave, self.warps, self.lanes, self.whole = wave, warps, lanes, whole
        self.blocks = wave.block_of[warps][None, :]
        self.count = LANES * len(warps) if lanes is None else int(lanes.sum())

    def __missing__(self, name: str) -> Array:
        value = self.wave.registers.get(name)
        if value is None:  # never written: what it holds is not defined
            value = np.zeros((1, 1), self.wave.register_types[name])
        elif value.shape[1] > 1 and not self.whole:
            value = value[:, self.warps]
        self[name] = value
        return value

    def keep(self, names: frozenset[str]) -> None:
        """Give these registers back to the wave."""
        registers = self.wave.registers
        for name in names:
            if name in self:
                new = self[name]
                if self.whole:
                    registers[name] = new
                else:
                    registers[name] = self._merged(registers.get(name), new)

    def _merged(self, old: Array | None, new: Array) -> Array:
        full = np.zeros((LANES, self.wave.count), new.dtype)
        if old is not None:
            full[:] = old if old.dtype == new.dtype else old.view(new.dtype)
        if self.lanes is None:
            full[:, self.warps] = new
        else:
            part = full[:, self.warps]
            np.copyto(part, new, where=self.lanes)
            full[:, self.warps] = part
        return full

    def active(self, guard: Array | None) -> Array | None:
        """The lanes that take part in an instruction with this guard; None where all do."""
        if guard is None:
            return self.lanes
        if self.lanes is None:
            return None if guard.all() else np.broadcast_to(guard, self.shape)
        return self.lanes & guard

    @property
    def shape(self) -> tuple[int, int]:
        return LANES, len(self.warps)
