"""Answers to unit 1 about the positions of a window."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, mutants

NAME = "ir.windows.positions"
REACH, HOW_MANY = "dilation * (kernel - 1) + 1", "max(0, room // stride + 1)"

mutants(
    NAME,
    forgets_the_first_position=(HOW_MANY, "max(0, room // stride)"),
    forgets_the_dilation=(REACH, "kernel"),
    dilates_the_whole_kernel=(REACH, "dilation * kernel"),
    pads_one_side_twice=("low + size + high", "size + 2 * low"),
    goes_below_zero=(HOW_MANY, "room // stride + 1"),
    rounds_towards_zero=("room // stride", "int(room / stride)"),
    gives_a_float=(HOW_MANY, f"float({HOW_MANY})"),
    rounds_up=("room // stride", "-(-(room + 1) // stride)"),
)
alternatives(NAME, as_the_length_of_a_range=(HOW_MANY, "len(range(0, room + 1, stride))"))


@alternative(NAME)
def by_halving(size, kernel, stride=1, dilation=1, low=0, high=0):
    """The last position that fits, by bisection."""
    reach, least, most = dilation * (kernel - 1), 0, low + size + high + 1
    while least < most:
        middle = (least + most) // 2
        if middle * stride + reach < low + size + high:
            least = middle + 1
        else:
            most = middle
    return least


@alternative(NAME)
def rounded_up(size, kernel, stride=1, dilation=1, low=0, high=0):
    starts = low + size + high - dilation * (kernel - 1)
    return np.int64(0) if starts <= 0 else np.int64(-(-starts // stride))
