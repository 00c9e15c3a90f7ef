"""What processor is this? The few numbers that a schedule needs, read from LLVM.

host_machine()  ->  Machine(name="znver4", vector_bytes=64, registers=32, threads=2)

Next room: `jit.py`.
"""

from __future__ import annotations

import os

import llvmlite.binding as llvm

from course_lib.cost.machine import Machine

# feature -> (bytes of a vector register, how many there are); the first one present counts
_VECTORS = (
    ("avx512f", (64, 32)),
    ("avx2", (32, 16)),
    ("neon", (16, 32)),
    ("sse2", (16, 16)),
)


def host_machine(threads: int | None = None) -> Machine:
    """The machine that this process runs on; `threads`: how many of its processors to use."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    features = llvm.get_host_cpu_features()
    default = (16, 32) if llvm.get_process_triple().startswith("aarch64") else (16, 16)
    found = [size for name, size in _VECTORS if features.get(name)]
    width, registers = found[0] if found else default
    return Machine(llvm.get_host_cpu_name(), width, registers, threads or _processors())


def _processors() -> int:
    """How many this process may use; a container or `taskset` may allow fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
