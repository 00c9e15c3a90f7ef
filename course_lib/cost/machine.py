"""What a schedule must know about the processor: a few numbers, printed with every result.

    Machine(name="znver4", vector_bytes=64, registers=32, threads=2)

`llvm/host.py` fills it in for the machine at hand; a test or a lesson may make up another one. Next
room: `layout.py`, which prices convolutions for a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.arguments import check_fields
from course_lib.ir.types import DType


@dataclass(frozen=True)
class Machine:
    """vector_bytes: width of a vector register; registers: how many; threads: how many at once;
    cache1, cache2: bytes of the first and the second data cache of a core.

    A machine that does not say how large its caches are has small ones: hardly any processor for a
    desktop or a server has less.
    """

    name: str = "generic"
    vector_bytes: int = 32
    registers: int = 16
    threads: int = 1
    cache1: int = 32 << 10
    cache2: int = 256 << 10

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("vector_bytes", "registers", "threads", "cache1", "cache2"):
            if getattr(self, name) < 1:
                raise ValueError(f"Machine: {name} is at least 1, got {getattr(self, name)}")

    def lanes(self, dtype: DType) -> int:
        """Elements in a vector register: 1 if not even one fits, or there are no vectors."""
        return max(self.vector_bytes // dtype.size, 1)


# What the layout pass compiles for, wherever it runs: so a model becomes the same kernels on every
# processor, and counts in the course are the same for everybody.
AVX512 = Machine("AVX-512", vector_bytes=64, registers=32)
