"""What isl finds for the nests of unit 8, made here where islpy is installed, else as recorded.

    isl_schedule("row").rows    "[{ S0[t, i] -> [(t)] }, { S0[t, i] -> [(t + i)] }]"
    isl_schedule("row").kernel  the row in isl's order, as loops of ours
    bill(time_blocks)           misses of the unit's nests, by your schedule and by others

Next room: wild.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.bridges import isl
from course_lib.cost.cache import Cache
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.jit import compile_kernels
from course_lib.recorded import recorded
from lessons.bill import bill_of
from lessons.u08.stencils import missing, plate, row, scheduled

NESTS = {"row": row(), "plate": plate(64, 64, 24)}
BY_ISL = recorded(__file__, "isl.txt")


@dataclass(frozen=True)
class IslSchedule:
    """The band that isl found for a nest, and the nest in that order, as loops of ours."""

    distances: str
    rows: str
    permutable: bool
    parallel: tuple[bool, ...]
    kernel: Kernel
    word: str


@functools.cache
def isl_schedule(name: str) -> IslSchedule:
    """isl's schedule of the row or of the plate."""
    if not isl.installed():
        band = BY_ISL.data(f"{name}: band")
        band["parallel"] = tuple(band["parallel"])
        return IslSchedule(**band, kernel=parse_kernel(BY_ISL[f"{name}: loops"]), word=BY_ISL.words)
    kernel = NESTS[name]
    sets = isl.sets_of(kernel)
    (band,) = isl.bands(sets)
    return IslSchedule(isl.distances(sets), band.rows, band.permutable, band.parallel,
                 isl.scheduled(kernel).kernel, "isl ran just now")  # fmt: skip


def differs(kernel: Kernel, right: Kernel) -> float:
    """The largest difference of the results, both as machine code for this processor. The code may
    round otherwise: it may multiply and add at once."""
    return float(np.abs(_run(kernel) - _run(right)).max())


def _run(kernel: Kernel) -> np.ndarray:
    out = np.random.default_rng(0).standard_normal(kernel.out.type.dims, np.float32)
    code = compile_kernels([kernel])
    for part, iterations in code.functions[kernel.name]:
        part(out.ctypes.data, 0, iterations)
    return out


# Rows, columns, steps, reach and bytes of the cache, and the misses of our own schedule.
PLATES = {(64, 64, 24, 1, 2048): 1536, (40, 64, 24, 1, 4096): 320, (64, 32, 24, 2, 2048): 768,
          (48, 64, 12, 3, 4096): 768}  # fmt: skip


def bill(time_blocks: Callable[..., str]) -> Any:
    """Misses of some nests: as written, in your blocks, in ours, and each line once."""
    rows = []
    for sizes, ours in PLATES.items():
        high, wide, steps, reach, size = sizes
        kernel, cache = plate(*sizes[:4]), Cache(size, 4)
        yours = missing(scheduled(kernel, time_blocks(*sizes)), cache)
        name = f"plate, {high} × {wide}, reach {reach}, {steps} passes, {size:,} bytes"
        rows.append([name, missing(kernel, cache), yours, ours, high * wide // 16])
    return bill_of(rows, ["nest", "as written", "yours", "ours", "each line once"])
