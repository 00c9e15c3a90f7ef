"""Machine code that is kept: LLVM compiles a kernel once on this machine, not once a process.

    made_once(key, lambda: Object(optimized, code))    # the second time, nothing is made

Where it is kept, and when it is made anew: `course_lib/keep.py`. Next room: `jit.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from course_lib.keep import is_kept, kept


@dataclass(frozen=True)
class Object:
    """One kernel: its LLVM IR after the optimizer, and the object file of its machine code."""

    optimized: str
    code: bytes


def made_once(key: str, make: Callable[[], Object]) -> Object:
    """`key` says all that the machine code depends on."""

    def parts() -> tuple[bytes, bytes]:
        compiled = make()
        return compiled.optimized.encode(), compiled.code

    optimized, code = kept("kernels", key, parts)
    return Object(optimized.decode(), code)


def is_made(key: str) -> bool:
    """Would `made_once` find it? Also if nothing can be kept: then it is nobody else's to make."""
    return is_kept("kernels", key)
