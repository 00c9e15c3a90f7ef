"""What other compilers make of a softmax over f32[512,1024], recorded (unit 3, "In the wild").

The texts stand in inductor.txt and xla.txt, shortened: Inductor's by lessons/makers.py, which also
has the whole text of any function; XLA's, by makers.py here, lost its layouts, its kinds of fusion,
its metadata and the functions that say how to reduce. The two ynn_fusions are of kind kCustom: a
library, YNNPACK, computes them. Next room: measuring.py.
"""

from __future__ import annotations

import re
from math import prod

from course_lib.recorded import recorded

INDUCTOR, XLA = (recorded(__file__, f"{tool}.txt") for tool in ("inductor", "xla"))
INDUCTOR_SOFTMAX, XLA_SOFTMAX = INDUCTOR["softmax"], XLA["softmax"]

FLOAT = 4  # bytes


def recorded_costs() -> dict[str, tuple[int, float]]:
    """Kernels, and the MB that they read and write, by the texts above."""
    row, image = 512 * FLOAT, 512 * 1024 * FLOAT
    inductor = image + 2 * row + image  # reads in_ptr0, writes out_ptr0, out_ptr1 and out_ptr2
    return {
        "Inductor, torch 2.13": (INDUCTOR_SOFTMAX.count("kernel("), inductor / 1e6),
        "XLA, jax 0.10.2": (XLA_SOFTMAX.count("fusion("), _moved(XLA_SOFTMAX) / 1e6),
    }


def _moved(hlo: str) -> int:
    """What the fusions of the entry computation read and write, each operand once."""
    entry = hlo[hlo.index("ENTRY") :]
    typed = re.findall(r"([\w.]+)(?::| =) f32\[([\d,]+)\]", entry)
    sizes = {name: FLOAT * prod(map(int, dims.split(","))) for name, dims in typed}
    return sum(
        sizes[result] + sum(sizes[operand] for operand in operands.split(", "))
        for result, operands in re.findall(r"([\w.]+) = \S+ fusion\(([^)]*)\)", entry)
    )
