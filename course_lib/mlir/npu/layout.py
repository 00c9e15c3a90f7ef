"""How the machine wants its operands in DRAM: what the caller of a program does to arrays.

    panels(w, 32)                int8[k, n]  ->  bytes, panel by panel
    entries(bias, scale, 32)     int32[blocks, 2, 32]: biases, and the bits of scales

Weights are known long before a program runs, so this is done once. Next room: `loops.py`.
"""

from __future__ import annotations

import numpy as np


def panels(w: np.ndarray, columns: int) -> np.ndarray:
    """A matrix as `#npu.panels<columns>` lays it out, flat.

    >>> panels(np.arange(12).reshape(2, 6), 4).tolist()
    [0, 1, 2, 3, 6, 7, 8, 9, 4, 5, 10, 11]
    """
    parts = [w[:, at : at + columns].ravel() for at in range(0, w.shape[1], columns)]
    return np.concatenate(parts)


def entries(bias: np.ndarray | None, scale: np.ndarray, cols: int) -> np.ndarray:
    """Bias (none: zeros) and scale of each column as the output pipeline reads them."""
    blocks = np.zeros((-(-scale.size // cols), 2, cols), "<i4")
    for block, at in enumerate(range(0, scale.size, cols)):
        part = scale[at : at + cols].astype("<f4")
        blocks[block, 1, : part.size] = part.view("<i4")
        if bias is not None:
            blocks[block, 0, : part.size] = bias[at : at + cols]
    return blocks
