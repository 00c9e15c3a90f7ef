"""Level 2: cycles as a formula, values as one matrix product.

    cycles(197, 768, 768, SystolicArray(32, 32))   ->   139,440

With R rows, C columns and F folds, of which each streams T operands (`dataflow.py`):

    os                F (T + R + C - 2), and F R more if the drain is counted
    ws, is            F (T + 2 R + C - 2)
    ... with shadow   (F - 1) max(T, R) + T + 2 R + C - 2

Without shadow and drain, this is what the code of SCALE-Sim counts (version 2); the total in its
report is one less. Its paper has F (T + 2 R + C - 2) for all three, so with the drain for "os"
(Samajdar et al., "A systematic methodology for characterizing scalability of DNN accelerators using
SCALE-Sim", ISPASS 2020). Next room: `multiply.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.systolic import Run, SystolicArray, operands
from course_lib.accelerator.systolic import cycles as output_stationary

EXACT = 1 << 53  # whole numbers up to here are exact in float64


def cycles(m: int, k: int, n: int, array: SystolicArray) -> int:
    """The clocks of [m, k] x [k, n] on any array; ValueError if a size is not at least 1."""
    folding = Folding(array, m, k, n)
    folds, time, rows, cols = folding.folds, folding.time, array.rows, array.cols
    if array.dataflow == "os":
        return output_stationary(m, k, n, array)  # the answer of unit 0, which stands there alone
    if array.shadow:
        return (folds - 1) * max(time, rows) + time + 2 * rows + cols - 2
    return folds * (time + 2 * rows + cols - 2)


def definition(array: SystolicArray) -> str:
    """The formula in words, for a report: what R, C, F and T are, and what is not counted."""
    folding = Folding(array, 1, 1, 1)
    flow = folding.flow
    if array.dataflow == "os":
        formula = f"F(T + {'2R' if array.drain else 'R'} + C - 2)"
    elif array.shadow:
        formula = "(F - 1)max(T, R) + T + 2R + C - 2"
    else:
        formula = "F(T + 2R + C - 2)"
    return (
        f"{formula} with T = {flow.time}, F = ceil({flow.rows}/R) ceil({flow.cols}/C), "
        f"R = {array.rows}, C = {array.cols}: {array}"
    )


def closed(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Run:
    """Multiply `a` [m, k] by `b` [k, n]. Integers wrap at 32 bits, as in the cells; the sums of
    floats differ in their last bits from those of levels 0 and 1, which add in another order."""
    a, b = operands(a, b)
    (m, k), n = a.shape, b.shape[1]
    folding = Folding(array, m, k, n)
    count = cycles(m, k, n, array)
    return Run(array, _product(a, b), count, folding.macs, folding.folds)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f":
        return a @ b
    largest = _largest(a) * _largest(b) * a.shape[1]
    if largest > EXACT:
        return a @ b  # int32, slowly
    # BLAS multiplies floats only, and very fast: exact here. Then only the lowest 32 bits stay.
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(np.int32)


def _largest(matrix: np.ndarray) -> int:
    return max(abs(int(matrix.min())), abs(int(matrix.max())))
