"""Visible checks of `launched` and `moved`: texts that are made up, and two that Inductor wrote.

Next room: loops.py.
"""

from __future__ import annotations

from typing import Any

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.units.u15_lab_block.checks import Text, drawn, same_rows
from lessons.u15_lab_block.text import BY_GPU, BY_INDUCTOR

LIST = "List what `call` launches, and which operations of the graph each launch holds"
PAIRS = "a pair for each launch, in the order of `call`: its name and its operations"
IS = 'A launch is a call of a kernel that is defined above, or of a function of `extern_kernels`'
RUN = "A kernel in Triton is called by its method `run`, a kernel in C++ directly"
OFTEN = "A kernel may be launched several times, or not at all"
NAMED = "The operations of a kernel are named in the comment above it"
ORDER = "They are listed in the order of the lines"
NONE = "Above a kernel in C++ there is no such comment, so its list is empty"
HELD = {0: IS, 1: NAMED}

COUNT = "Count the bytes that each launch reads and writes"
ROWS = "for each launch, in the order of `call`: its name, bytes read and bytes written"
FOUR = "Every number has 4 bytes, and arrays are read and written whole"
ARE = "The arrays of a launch are its arguments, in the order of the kernel's parameters"
ROLES = "it reads those that it gets as in_ptr, writes those that it gets as out_ptr, and does both"
LIBRARY = "A function of a library writes the array that it gets as `out=` and reads the others"
STATED = "state the sizes of an array before its strides; `()` is a single number"
AMONG = "A `reinterpret_tensor` among the arguments counts with its own sizes"
ALIAS = "After `buf1 = buf0`, both names mean the same array"
MOVED = {0: ROWS, 1: ARE, 2: ROLES}

background("u15_lab_block.launched", "text what Inductor wrote ... and then `call`",
           because="what is given")  # fmt: skip
background("u15_lab_block.moved", "text as in `launched`", because="what is given")


@checks("u15_lab_block.launched", given=drawn(4), examples=60, what="made-up texts",
        spec=[LIST, PAIRS, IS, RUN, OFTEN, NAMED, ORDER, NONE])  # fmt: skip
def launches_of_texts(launched, text: Text):
    """Each launch, in order, with the operations of the graph that it holds."""
    same_rows(launched(str(text)), text.held, str(text), PAIRS, HELD)


# How many launches hold how many operations, in the texts that the notebook shows.
KNOWN = [
    (BY_GPU["gelu"], [9], NAMED),
    (BY_INDUCTOR["gelu"], [0], NONE),
    (BY_GPU["block"], [7, 0, 0, 0, 8, 0, 0, 3, 0, 10, 0, 7, 0, 6], OFTEN),
    (BY_INDUCTOR["block"], [0] * 14, RUN),
]


@for_each("u15_lab_block.launched", KNOWN, "{} texts that Inductor wrote", spec=[LIST])
def launches_of_the_block(launched, text, counts, spec):
    """GELU and the block, for a processor and for a GPU."""
    got = launched(text)
    try:
        mine = [len(operations) for _, operations in got]
    except (TypeError, ValueError):
        mine = None
    if mine != counts:
        raise Wrong("The launches must hold as many operations as the comments name.",
                    program=text, got=str(mine or got)[:300], expected=str(counts),
                    spec=spec)  # fmt: skip


@checks("u15_lab_block.moved", given=drawn(4), examples=80, what="made-up texts",
        spec=[COUNT, ROWS, FOUR, ARE, ROLES, LIBRARY, STATED, AMONG, ALIAS])  # fmt: skip
def bytes_of_texts(moved, text: Text):
    """The bytes that each launch reads and writes."""
    same_rows(moved(str(text)), text.moved, str(text), ROWS, MOVED)


BYTES = [
    (BY_GPU["gelu"], (134_217_728, 134_217_728), FOUR),
    (BY_INDUCTOR["gelu"], (4_194_304, 4_194_304), FOUR),
    (BY_GPU["block"], (6_699_008, 2_883_584), LIBRARY),
    (BY_INDUCTOR["block"], (6_699_008, 2_889_728), LIBRARY),
]


@for_each("u15_lab_block.moved", BYTES, "{} texts that Inductor wrote", spec=[COUNT])
def bytes_of_the_block(moved, text, totals, spec):
    """GELU and the block, for a processor and for a GPU."""
    got: Any = moved(text)
    try:
        mine = tuple(int(sum(row[k] for row in got)) for k in (1, 2))
    except (TypeError, ValueError, IndexError):
        mine = None
    if mine != totals:
        raise Wrong("All launches together must read and write as many bytes as this.",
                    program=text, got=str(mine or got)[:300], expected=str(totals),
                    spec=spec)  # fmt: skip
