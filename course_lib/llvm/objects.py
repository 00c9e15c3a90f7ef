"""Machine code that is kept: LLVM compiles a kernel once on this machine, not once a process.

    made_once(key, lambda: Object(optimized, code))    # the second time, nothing is made

Where it is kept, and when it is made anew: `course_lib/keep.py`. Next room: `jit.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from course_lib.keep import kept

SIZE = 8  # bytes of the number that says how long the text is


@dataclass(frozen=True)
class Object:
    """One kernel: its LLVM IR after the optimizer, and the object file of its machine code."""

    optimized: str
    code: bytes

    def __bytes__(self) -> bytes:
        text = self.optimized.encode()
        return len(text).to_bytes(SIZE, "little") + text + self.code

    @staticmethod
    def of(data: bytes) -> Object:
        end = SIZE + int.from_bytes(data[:SIZE], "little")
        return Object(data[SIZE:end].decode(), data[end:])


def made_once(key: str, make: Callable[[], Object]) -> Object:
    """`key` says all that the machine code depends on."""
    return Object.of(kept("kernels", key, lambda: bytes(make())))
