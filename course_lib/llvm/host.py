"""What processor is this? The few numbers that a schedule needs, and whose instructions to use.

    host_machine()                 ->  Machine("znver4", 64 bytes, 32 registers, 2 threads, ...)
    host_machine(cpu="x86-64-v3")  ->  Machine("x86-64-v3", 32 bytes, 16 registers, 2 threads, ...)

By default code is generated for the processor at hand, with all that it has. A level of x86-64
stands for every processor that has at least its instructions, so that a test can run what a smaller
machine would; COURSE_LIB_CPU=x86-64-v3 in the environment makes it the default of a whole process.
Next room: `objects.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

from course_lib.arguments import takes
from course_lib.cost.machine import Machine

# feature -> (bytes of a vector register, how many there are); the first one present counts
_VECTORS = {"avx512f": (64, 32), "avx2": (32, 16), "avx": (32, 16), "neon": (16, 32)}
_PLAIN = {"aarch64": (16, 32), "arm64": (16, 32)}  # neon; every x86-64 has sse2: (16, 16)

# What the levels of x86-64 have beyond the first (System V ABI, section 3.1.1)
_V3 = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS = {"x86-64-v3": _V3, "x86-64-v4": _V4}
# A machine of two sockets has so many; a process that starts thousands can start nothing else then.
MOST_THREADS = 256
CACHE = ("level", "type", "size")  # files in which Linux describes a cache: 1, Data, 48K


@takes
def host_machine(threads: int | None = None, cpu: str = "host") -> Machine:
    """The machine that this process runs on; `threads`: how many of its processors to use.

    cpu  "host", or the level of x86-64 whose instructions are used. ValueError if it is unknown or
         this processor does not have them.
    """
    if threads is not None:
        _check_threads(threads)
    name, _ = instruction_set(cpu)
    present = LEVELS.get(name) or _host_features()
    sizes = [size for feature, size in _VECTORS.items() if feature in present]
    architecture = llvm.get_process_triple().split("-")[0]
    width, registers = sizes[0] if sizes else _PLAIN.get(architecture, (16, 16))
    return Machine(name, width, registers, threads or _processors(), **_caches())


def _check_threads(count: int) -> None:
    """ValueError in words for a number of threads that nobody can mean."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        raise ValueError(f"threads must be a whole number, got {count!r}")
    if count < 1:
        raise ValueError(f"threads must be at least 1, got {count}")
    most = max(MOST_THREADS, _processors())
    if count > most:
        raise ValueError(
            f"threads must be at most {most}, got {count}: more threads than processors only wait "
            f"for each other, and this process may use {_processors()}"
        )


def meant(cpu: str) -> str:
    """The level that "host" stands for where the environment names one; any other as it is."""
    return (cpu == "host" and os.environ.get("COURSE_LIB_CPU")) or cpu


def instruction_set(cpu: str = "host") -> tuple[str, str]:
    """LLVM's name of a processor and its features, as a code generator takes them."""
    cpu = meant(cpu)
    if cpu == "host":
        return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    if cpu not in LEVELS:
        raise ValueError(f"cpu must be one of host, {', '.join(LEVELS)}, got {cpu!r}")
    missing = LEVELS[cpu] - _host_features()
    if missing:
        raise ValueError(f"this processor cannot run {cpu}: it lacks {', '.join(sorted(missing))}")
    return cpu, ""


def _host_features() -> set[str]:
    return {name for name, present in llvm.get_host_cpu_features().items() if present}


def _caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> dict[str, int]:
    """The sizes of the data caches of a core, where Linux says them: {"cache1": bytes, ...}."""
    sizes = {}
    for cache in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((cache / name).read_text().strip() for name in CACHE)
        except OSError:
            continue
        if kind != "Instruction" and level in "12" and size.endswith("K"):
            sizes[f"cache{level}"] = int(size[:-1]) << 10
    return sizes


def _processors() -> int:
    """How many this process may run on: `taskset` may allow fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
