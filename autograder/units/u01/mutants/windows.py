"""Answers to unit 1 about the positions of a window."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant


@mutant("ir.windows.positions")
def forgets_the_first_position(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (low + size + high - dilation * (kernel - 1) - 1) // stride)


@mutant("ir.windows.positions")
def forgets_the_dilation(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (low + size + high - kernel) // stride + 1)


@mutant("ir.windows.positions")
def dilates_the_whole_kernel(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (low + size + high - dilation * kernel) // stride + 1)


@mutant("ir.windows.positions")
def pads_one_side_twice(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (size + 2 * low - dilation * (kernel - 1) - 1) // stride + 1)


@mutant("ir.windows.positions")
def goes_below_zero(size, kernel, stride=1, dilation=1, low=0, high=0):
    return (low + size + high - dilation * (kernel - 1) - 1) // stride + 1


@mutant("ir.windows.positions")
def rounds_towards_zero(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, int((low + size + high - dilation * (kernel - 1) - 1) / stride) + 1)


@mutant("ir.windows.positions")
def gives_a_float(size, kernel, stride=1, dilation=1, low=0, high=0):
    return float(max(0, (low + size + high - dilation * (kernel - 1) - 1) // stride + 1))


@mutant("ir.windows.positions")
def rounds_up(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, -(-(low + size + high - dilation * (kernel - 1)) // stride) + 1)


@alternative("ir.windows.positions")
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


@alternative("ir.windows.positions")
def as_the_length_of_a_range(size, kernel, stride=1, dilation=1, low=0, high=0):
    return len(range(0, low + size + high - dilation * (kernel - 1), stride))


@alternative("ir.windows.positions")
def rounded_up(size, kernel, stride=1, dilation=1, low=0, high=0):
    starts = low + size + high - dilation * (kernel - 1)
    return np.int64(0) if starts <= 0 else np.int64(-(-starts // stride))
