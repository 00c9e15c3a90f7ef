"""Unit 12, Systolic arrays: its exercises. None of them is a function of the library.

The bodies of the exercises are our answers and never ship. Next room:
autograder/units/u12/checks/__init__.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.rubrics import Rubric, Sample
from course_lib.accelerator.array import closed
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import exercise


@exercise("u12.clock", unit=12, points=3, kind="implement")
def clock(
    right: np.ndarray,
    down: np.ndarray,
    stay: np.ndarray,
    shift: np.ndarray,
    enters: np.ndarray,
    weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the registers of a weight-stationary grid hold after the next clock.

    right, down, stay   [rows, cols], what they hold before that clock
    shift               [rows, cols], True where a cell takes a new weight in this clock
    enters              [rows], the operands that enter from the left
    weights             [cols], the weights that enter from above

    All cells work at once, with what the registers hold before the clock.

    - `right` takes the `right` of the neighbour on the left, or in column 0 the operand that
      enters.
    - `down` takes the `down` of the neighbour above, or 0 in row 0, plus a product: the operand
      that the cell takes in this clock times the weight that it holds before the clock.
    - Where `shift` is True, `stay` takes the `stay` of the neighbour above, or in row 0 the weight
      that enters. Elsewhere `stay` keeps its weight.

    Return right, down and stay, in this order.
    """
    operand = np.column_stack([enters, right[:, :-1]])
    above = np.vstack([np.zeros_like(down[:1]), down[:-1]])
    weight = np.vstack([weights, stay[:-1]])
    return operand, above + operand * stay, np.where(shift, weight, stay)


@exercise("u12.fault", unit=12, points=2, kind="evidence", uses=("u12.clock",))
def fault(
    right: np.ndarray,
    down: np.ndarray,
    stay: np.ndarray,
    shift: np.ndarray,
    enters: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, str, int, int]:
    """Where did the chip in this trace go wrong for the second time?

    The arguments are those of `clock`, with an axis for the clocks in front: `right[0]` is what the
    `right` registers hold after clock 1, and `enters[0]` is what enters in clock 1. Before clock 1,
    all registers hold 0. In each of two clocks, one register of one cell took a wrong value. Every
    other value follows from what the registers held one clock before, from `shift`, and from what
    entered. Return the later of the two faults as (clock, register, row, column): clocks count from
    1, rows and columns from 0, and the register is "right", "down" or "stay". You may call your
    `clock`.
    """
    for number in reversed(range(1, len(right))):
        held = right[number - 1], down[number - 1], stay[number - 1]
        due = clock(*held, shift[number], enters[number], weights[number])
        now = right[number], down[number], stay[number]
        for name, wanted, present in zip(("right", "down", "stay"), due, now, strict=True):
            if (wanted != present).any():
                row, col = np.argwhere(wanted != present)[0].tolist()
                return number + 1, name, row, col
    raise ValueError("no register took a wrong value after clock 1")


@exercise("u12.clocks", unit=12, points=3, kind="number")
def clocks(folds: int, time: int, array: SystolicArray, wait: int) -> int:
    """The clocks of a weight-stationary array that gets a row of weights every `wait` clocks.

    It works on `folds` folds, with `time` rows of operands for each.

    - Loading a fold takes `wait` clocks for each row of `array`. In the clock after that, the first
      operand enters cell (0, 0).
    - Row i of the cells starts i clocks later, column j starts j clocks later, and every cell works
      for `time` clocks. A fold ends when its last cell is done.
    - If `array.shadow` is False, the next load begins after the end of this fold.
    - If it is True, the next load begins in the clock in which this fold's first operand enters.
      The next fold's first operand enters in the clock after that load, or after this fold's last
      operand if that is later.

    Count exactly, from the first load to the end of the last fold. A billion folds, or rows of
    operands, must take no more steps than one.

    >>> clocks(2, 3, SystolicArray(4, 5, dataflow="ws", shadow=True), 3)
    34
    """
    load, stream = wait * array.rows, time + array.rows + array.cols - 2
    if array.shadow:
        return load + (folds - 1) * max(time, load) + stream
    return folds * (load + stream)


@exercise("u12.which", unit=12, points=3, kind="evidence", uses=("u12.clocks",))
def which(m: int, k: int, n: int, rows: int, cols: int, reported: int) -> str:
    """Which definitions give `reported` cycles for a product [m, k] x [k, n] on rows x cols cells?

    Return the letters of all of them, such as "BD", in any order. Return "" if there is none.

    A  Output-stationary, without the drain.
    B  The number of A's last clock, if the first one has the number 0.
    C  Output-stationary, with the drain.
    D  Weight-stationary, without shadow registers.
    E  Weight-stationary, with shadow registers.
    F  The multiply-accumulates divided by the number of cells, rounded up.

    Count as the section above does: every fold takes as long as a full one. In A, each fold waits
    until the last cell of the one before is done. In C, each fold's sums then take `rows` clocks to
    move out. In D and E, a row of weights arrives in every clock, so your `clocks` counts them.
    """
    across = -(-n // cols)
    blocks, folds = -(-m // rows) * across, -(-k // rows) * across
    sums = blocks * (k + rows + cols - 2)
    plain, shadow = (SystolicArray(rows, cols, dataflow="ws", shadow=has) for has in (False, True))
    counts = {"A": sums, "B": sums - 1, "C": sums + blocks * rows,
              "D": clocks(folds, m, plain, 1), "E": clocks(folds, m, shadow, 1),
              "F": -(-m * k * n // (rows * cols))}  # fmt: skip
    return "".join(letter for letter, cycles in counts.items() if cycles == reported)


@exercise("u12.larger", unit=12, points=2, kind="explain")
def larger() -> Rubric:
    """The 256 × 256 array has 64 times as many cells as the 32 × 32 array. By the table above,
    ResNet-18 needs far fewer cycles on it, and MobileNetV2 needs more than twice as many. Explain
    both for the array with shadow weights: name the parts of a product's cycles that grow with the
    array and those that shrink. Then say what you would change in the array, or in how a depthwise
    layer is mapped to it. Write three to six sentences.
    """
    return Rubric(
        criteria="1 point: a depthwise layer is one product for each channel, with k = 9 and "
        "n = 1, so each is a single fold on either array and uses 9 cells; load and fill, "
        "2R + C - 2 clocks, are paid for each channel and grow from 94 to 766, so thousands of "
        "channels take more cycles. 0.5 points: ResNet-18's products have large k and n, so the "
        "number of folds shrinks up to 64 times, and fill and first load are paid only once per "
        "product (the gain is less than 64 because folds at the edges leave cells idle and short "
        "streams wait for weights). 0.5 points: a remedy, such as several channels on the "
        "diagonal blocks of one fold, channels sent back to back so that fill is paid once, "
        "several small arrays, or a vector unit beside the array.",
        samples=(
            Sample(2, "Each channel of a depthwise layer is a product of its own with k = 9 and "
                   "n = 1. It is one fold on both arrays and keeps 9 cells busy, but loading and "
                   "fill take 2R + C - 2 clocks: 94 on the small array and 766 on the large one, "
                   "for each of thousands of channels. ResNet-18's products are cut into many "
                   "folds, whose number falls by up to 64, and with shadow weights the fill is "
                   "paid once per product. I would let the channels of a layer follow each other "
                   "without waiting for the array to be empty."),
            Sample(1, "Depthwise layers have one column and nine rows, so nearly all cells of the "
                   "large array do nothing, and filling it takes longer. A vector unit should do "
                   "them."),
            Sample(0, "MobileNetV2 is a small model, so it is limited by memory bandwidth and a "
                   "larger array cannot help."),
        ),
    )  # fmt: skip


@exercise("u12.pack", unit=12, points=2, kind="number", further=True)
def pack(channels: int, m: int, window: int, array: SystolicArray) -> int:
    """How many channels should share a product, so that a depthwise layer takes the fewest cycles?

    Each of the `channels` channels is a product [m, window] x [window, 1]. If g of them share one,
    it is [m, g * window] x [g * window, g]: each channel has a column of its own, with its weights
    in its own rows and zeros in all others. The layer is cut into products of g channels and, if
    channels are left over, a last product of those. The products run one after another on `array`,
    and `closed.cycles` counts each. Return g, a whole number from 1 to `channels`, exactly. If
    several values of g take the fewest cycles, any of them will do.
    """

    def cycles(g: int) -> int:
        whole, left = divmod(channels, g)
        last = closed.cycles(m, left * window, left, array) if left else 0
        return whole * closed.cycles(m, g * window, g, array) + last

    return min(range(1, channels + 1), key=cycles)


@exercise("u12.rows", unit=12, points=2, kind="number", further=True)
def rows(channels: int, height: int, width: int, window: int, columns: int) -> tuple[int, int]:
    """How many pixels and weights does a row-stationary array read for a depthwise layer?

    Each of the `channels` channels has a filter of `window` x `window` weights, and its result has
    `height` rows of `width` pixels. The windows of neighbouring pixels are one pixel apart. The
    array has `window` rows and `columns` columns of cells, and works on one channel at a time. It
    computes `columns` rows of the result together, and in the end those that are left. For these
    rows, it reads all weights of the filter once, and each row of the image that they need once, as
    many pixels of it as they need. Pixels of the border are read like others. Return (pixels,
    weights), counted exactly.

    >>> rows(1, 4, 5, 3, 2)
    (56, 18)
    """
    strips = -(-height // columns)
    image_rows = height + strips * (window - 1)
    pixels = image_rows * (width + window - 1)
    return channels * pixels, channels * strips * window * window
