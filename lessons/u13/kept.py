"""Two layers for the teaching chip, one after the other, with a result between them.

    DETOUR                   the text of a program: the result goes to DRAM and comes back
    played(program, 7)       a run on random numbers, and whether DRAM holds what it should
    due(memory)              the bytes that the second layer leaves, by numpy

16 pixels of 4 channels, two matrices of 4 x 4, a ReLU6 between them. Next room: `flows.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.instruction import Instruction

TEACHING = PRESETS["teaching"]
X, W1, W2, PARAMS, BETWEEN, Y, SIZE = 0, 64, 80, 96, 160, 224, 288  # where what begins in DRAM
SIX = 120  # 6.0 as a byte: the numbers between the layers are 0.05 times their bytes
FASTEST = 100  # clocks of our program; the one below takes 172

DETOUR = """\
ldw dram=64 weights=0 rows=4 bytes=4 pitch=4 signal=execute
lda dram=0 acts=0 h=1 w=16 bytes=4 step=4 line=64 signal=execute
ldb dram=96 params=0 count=2 signal=store
preload weights=0 k=4 n=4 pitch=4 wait=load
matmul acts=0 h=1 w=16 step=4 line=64 k=4 n=4 accs=0 wait=load signal=store
act accs=0 n=4 params=0 acts=256 h=1 w=16 step=4 line=64 wait=load,execute
st acts=256 dram=160 h=1 w=16 bytes=4 step=4 line=64 signal=load
ldw dram=80 weights=16 rows=4 bytes=4 pitch=4 wait=store
lda dram=160 acts=512 h=1 w=16 bytes=4 step=4 line=64 signal=execute
preload weights=16 k=4 n=4 pitch=4 wait=load
matmul acts=512 h=1 w=16 step=4 line=64 k=4 n=4 accs=32 signal=store
act accs=32 n=4 params=1 acts=768 h=1 w=16 step=4 line=64 wait=execute
st acts=768 dram=224 h=1 w=16 bytes=4 step=4 line=64
halt
"""


def drawn(seed: int) -> np.ndarray:
    """DRAM with random pixels, weights, biases and scales; the sums between are small and large."""
    rng = np.random.default_rng(seed)
    memory = np.zeros(SIZE, np.int8)
    memory[:PARAMS] = rng.integers(-128, 128, PARAMS)
    for entry, scale in enumerate((0.01, 0.004)):
        at = PARAMS + 32 * entry
        memory[at : at + 16] = rng.integers(-4000, 4000, 4, dtype=np.int32).view(np.int8)
        scales = (scale * rng.uniform(0.5, 2, 4)).astype(np.float32)
        memory[at + 16 : at + 32] = scales.view(np.int8)
    memory[BETWEEN:] = rng.integers(-128, 128, SIZE - BETWEEN)
    return memory


def due(memory: np.ndarray, low: int = 0, high: int = SIX) -> np.ndarray:
    """The result [16, 4] of both layers, with these limits between them."""
    x, first, second = (memory[a:b].astype(np.int32) for a, b in ((X, W1), (W1, W2), (W2, PARAMS)))
    between = _requantized(x.reshape(16, 4) @ first.reshape(4, 4), memory, 0, low, high)
    return _requantized(between @ second.reshape(4, 4), memory, 1, -128, 127)


def _requantized(
    sums: np.ndarray, memory: np.ndarray, entry: int, low: int, high: int
) -> np.ndarray:
    """The bytes that `act` makes of int32 sums, as int32."""
    words = memory[PARAMS + 32 * entry : PARAMS + 32 * (entry + 1)]
    bias, scale = words[:16].view(np.int32), words[16:].view(np.float32)
    scaled = (sums + bias).astype(np.float32) * scale
    return np.clip(np.rint(scaled), low, high).astype(np.int32)


def played(
    program: Sequence[Instruction], seed: int, chip: Chip = TEACHING, hazards: bool = True
) -> tuple[Run, np.ndarray, np.ndarray]:
    """A run on random numbers: the run, DRAM before it, and DRAM after it."""
    before = drawn(seed)
    run = simulate(program, before.copy(), chip, hazards)
    return run, before, run.state.dram
