"""Checks of unit 1 for the positions of a window. Next room: order.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.plugs import in_the_compiler
from autograder.check.properties import a_number
from autograder.check.steps import with_steps
from course_lib.ir.graph.node import apply, inp

ENDS = ((0, 12), (1, 5), (1, 4), (1, 3), (0, 3), (0, 3))  # size, kernel, stride, dilation, ...
AXES = st.tuples(*(st.integers(*ends) for ends in ENDS))


HOW_MANY = "How many positions a window has along one axis"
AXIS = "The axis has `size` elements, and padding of `low` elements before and `high` after them"
READS = "The window reads `kernel` elements, each `dilation` after the one before it"
MOVES = "It begins `low` elements before the axis and moves on by `stride` elements each time"
LIES = "At every position all that it reads lies on the axis or its padding"
NONE = "A window that does not fit even once has 0 positions"
LONG = "Do not count: an axis of 10**18 elements takes no longer, and the answer is exact"

background("ir.windows.positions", "`size`, `low` and `high` are 0 or more, the other numbers 1 or",
           because="other numbers are not given")  # fmt: skip


@checks("ir.windows.positions", given=AXES, examples=40, what="random windows",
        spec=[HOW_MANY, AXIS, READS, MOVES, LIES, NONE])  # fmt: skip
def counts_the_positions(positions, case):
    """As many positions as there are when the window is moved along."""
    exact(positions, case, LIES)


@checks("ir.windows.positions", spec=[LONG, HOW_MANY])
def does_not_count(positions):
    """An axis of 10**18 elements."""
    exact_on_a_long_axis(positions, 10**18, 7, 3, 1, 3, 3)
    return "an axis of 10**18 elements"


def exact_on_a_long_axis(positions: Any, *numbers: int) -> None:
    """The exact number, in few steps, for (size, kernel, stride, dilation, low, high)."""
    few = with_steps(positions, 5_000, "one axis", "positions are computed, not counted")
    exact(few, numbers, LONG)


def exact(positions: Any, case: tuple[int, ...], spec: str) -> None:
    """As many as there are places where the window begins."""
    size, kernel, stride, dilation, low, high = case
    wanted = len(range(0, low + size + high - dilation * (kernel - 1), stride))
    got = positions(*case)
    near = abs(wanted - a_number(got, unit="positions")) < 1000 and wanted > 10**6
    if got != wanted:
        raise Wrong("Nearly right: a float cannot hold so many digits, and / makes a float."
                    if near else "Moving the window along the axis gives another number.",
                    program=f"positions(size={size}, kernel={kernel}, stride={stride}, "
                    f"dilation={dilation}, low={low}, high={high})",
                    got=f"{got}", expected=f"{wanted}", spec=spec if wanted else NONE)  # fmt: skip
    if not isinstance(got, (int, np.integer)):
        raise Wrong("A number of positions must be an int: sizes of tensors are.", got=repr(got),
                    spec=HOW_MANY)  # fmt: skip


@checks("ir.windows.positions", spec=HOW_MANY)
def infers_types_in_the_compiler(positions):
    """With your function, the compiler infers the types of convolutions and poolings."""
    x, w = inp("x", "f16[1,3,17,9]"), inp("w", "f16[4,3,3,2]")
    with in_the_compiler("ir.windows.positions", positions):
        windows = {"strides": (2, 3), "dilations": (3, 1), "pads": (2, 0, 1, 4)}
        pooled = apply("max_pool", apply("conv", x, w, **windows), kernel=(3, 2))
    if str(pooled.type) != "f16[1,4,5,3]":
        raise Wrong("A convolution and a pooling of f16[1,3,17,9] have another type.",
                    program="max_pool(conv(x, w, strides=[2, 3], dilations=[3, 1], "
                    "pads=[2, 0, 1, 4]), kernel=[3, 2]), w: f16[4,3,3,2]",
                    got=str(pooled.type), expected="f16[1,4,5,3]",
                    spec=HOW_MANY)  # fmt: skip
    return "the types of a convolution and a pooling"
