"""What isl finds for the nests of unit 8, made here where islpy is installed, else as recorded.

    found("row").rows          "[{ S0[t, i] -> [(t)] }, { S0[t, i] -> [(t + i)] }]"
    found("row").kernel        the row in isl's order, as loops of ours
    bill(time_blocks)          misses of the unit's nests, by your schedule and by others

Next room: models.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.units.u08.answers.stencils import missing, plate, row, scheduled
from course_lib.bridges import isl
from course_lib.cost.cache import Cache
from course_lib.draw.plots.table import table
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.jit import compile_kernels

NESTS = {"row": row(), "plate": plate(64, 64, 24)}
# islpy 2026.2.2: distances, rows, permutable, parallel, loops.
RECORDED: dict[str, tuple[str, str, bool, tuple[bool, ...], str]] = {
    "row": (
        "{ S0[t, i] : 0 < t <= 63 and -1 <= i <= 1; S0[t = 0, i = 1] }",
        "[{ S0[t, i] -> [(t)] }, { S0[t, i] -> [(t + i)] }]",
        True,
        (False, False),
        """
kernel @row(out: f32[1024]) {
  for c0 in 0..64 { for c1 in c0 + 1..c0 + 1023 {
    out[c1 - c0] = 0.25 * out[c1 - c0 - 1] + 0.5 * out[c1 - c0] + 0.25 * out[c1 - c0 + 1]
  } }
}""",
    ),
    "plate": (
        "{ S0[t, i, j] : 0 < t <= 23 and j >= -1 + i and -1 - i <= j <= 1 - i and j <= 1 + i; "
        "S0[t = 0, i, j = 1 - i] : 0 <= i <= 1 }",
        "[{ S0[t, i, j] -> [(t)] }, { S0[t, i, j] -> [(t + i)] }, { S0[t, i, j] -> [(t + j)] }]",
        True,
        (False, False, False),
        """
kernel @plate(out: f32[64,64]) {
  for c0 in 0..24 { for c1 in c0 + 1..c0 + 63 { for c2 in c0 + 1..c0 + 63 {
    out[c1 - c0, c2 - c0] = 0.5 * out[c1 - c0, c2 - c0] + 0.125 * (out[c1 - c0 - 1, c2 - c0]
      + out[c1 - c0 + 1, c2 - c0] + out[c1 - c0, c2 - c0 - 1] + out[c1 - c0, c2 - c0 + 1])
  } } }
}""",
    ),
}


@dataclass(frozen=True)
class Found:
    """The band that isl found for a nest, and the nest in that order, as loops of ours."""

    distances: str
    rows: str
    permutable: bool
    parallel: tuple[bool, ...]
    kernel: Kernel
    word: str


@functools.cache
def found(name: str) -> Found:
    """isl's schedule of the row or of the plate."""
    if not isl.installed():
        *said, text = RECORDED[name]
        return Found(*said, parse_kernel(text), "recorded with islpy 2026.2.2")  # type: ignore[arg-type]
    kernel = NESTS[name]
    sets = isl.sets_of(kernel)
    (band,) = isl.bands(sets)
    return Found(isl.distances(sets), band.rows, band.permutable, band.parallel,
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
    heads = ["nest", "as written", "yours", "ours", "each line once"]
    return table(rows, heads, exact=heads[1:])
