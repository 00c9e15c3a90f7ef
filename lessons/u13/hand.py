"""A program of the chip, written by hand: a product of two matrices of 4 x 4 on 4 x 4 cells.

    run = by_hand(PRODUCT)      ->   a Run; run.total clocks; result_of(run) is [4, 4]

Next room: words.py.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.text import assemble

TEACHING = PRESETS["teaching"]
X = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [1, 0, 0, 1], [2, 2, 2, 2]], np.int8)
W = np.array([[1, 0, 0, 2], [0, 1, 0, 2], [0, 0, 1, 2], [1, 1, 1, 2]], np.int8)

PRODUCT = """
ldw dram=16 weights=0 rows=4 bytes=4 pitch=4 signal=execute
lda dram=0 acts=0 h=1 w=4 bytes=4 step=4 line=16 signal=execute
ldb dram=32 params=0 count=1 signal=store
preload weights=0 k=4 n=4 pitch=4 wait=load
matmul acts=0 h=1 w=4 step=4 line=16 k=4 n=4 accs=0 wait=load signal=store
act accs=0 n=4 params=0 acts=256 h=1 w=4 step=4 line=16 wait=load,execute
st acts=256 dram=64 h=1 w=4 bytes=4 step=4 line=16
halt
"""


def by_hand(text: str) -> Run:
    """Run a program on the teaching chip: X at 0, W at 16, biases 0 and scales 1 at 32."""
    dram = np.zeros(128, np.int8)
    dram[:16], dram[16:32] = X.ravel(), W.ravel()
    dram[48:64] = np.ones(4, "<f4").view(np.int8)
    return simulate(assemble(text), dram, TEACHING)


def result_of(run: Run) -> np.ndarray:
    """What stands at 64 afterwards."""
    return run.state.dram[64:80].reshape(4, 4)
