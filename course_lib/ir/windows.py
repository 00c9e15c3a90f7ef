"""How a window slides along an axis: the sizes of convolutions and poolings.

    positions(224, kernel=7, stride=2, low=3, high=3)  ->  112

`ops/window.py` calls it once for each axis of an image. Next room: `ops/window.py`.
"""

from __future__ import annotations

from course_lib.exercises import exercise


def by_counting(
    size: int, kernel: int, stride: int = 1, dilation: int = 1, low: int = 0, high: int = 0
) -> int:
    """Put the window at one position after the other."""
    count, first = 0, -low
    while first + dilation * (kernel - 1) < size + high:
        count, first = count + 1, first + stride
    return count


@exercise("ir.windows.positions", unit=1, points=2, baseline=by_counting, further=True)
def positions(
    size: int, kernel: int, stride: int = 1, dilation: int = 1, low: int = 0, high: int = 0
) -> int:
    """How many positions a window has along one axis.

    The axis has `size` elements, and padding of `low` elements before and `high` after them. The
    window reads `kernel` elements, each `dilation` after the one before it (1: neighbours). It
    begins `low` elements before the axis and moves on by `stride` elements each time. At every
    position all that it reads lies on the axis or its padding.

    A window that does not fit even once has 0 positions. `size`, `low` and `high` are 0 or more,
    the other numbers 1 or more. Do not count: an axis of 10**18 elements takes no longer,
    and the answer is exact.

    >>> positions(5, kernel=3), positions(5, kernel=3, stride=2), positions(5, kernel=3, dilation=2)
    (3, 2, 1)
    >>> positions(2, kernel=3), positions(2, kernel=3, low=1)
    (0, 1)
    """
    reach = dilation * (kernel - 1) + 1
    room = low + size + high - reach
    return max(0, room // stride + 1)
