"""What is known of an operation in the dumps of several systems.

    found["jax"]["optimized hlo"].how       ->  "by name"         a name of the model stands there
    found["jax"]["optimized hlo"].lines     ->  {81: "...", 84: "...", ...}
    found["jax"]["optimized hlo"].kernels   ->  ("fused_computation.8", ...)

Next room: `alignment.py`, which finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from course_lib.peers.align.operation import Operation


@dataclass(frozen=True)
class Found:
    """Of one stage: `how` is "by name", "by pattern", "by the kernel's name" or "not found: why".

    lines     by number, from 1
    kernels   what computes it, by the words of the dump, in order
    others    what else is in these kernels
    """

    how: str
    lines: Mapping[int, str] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass(frozen=True)
class Alignment:
    """By system and stage, in order."""

    operation: Operation
    systems: Mapping[str, Mapping[str, Found]]

    def __getitem__(self, system: str) -> Mapping[str, Found]:
        return self.systems[system]
