"""Checks of unit 1 for a program with few products, a line that is wrong, and a number.

Next room: programs.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.check.framework import Score, Wrong, background, checks, ours
from autograder.check.properties import a_number, valid_graph

# ── u01.power ──

RAISES = "A graph that raises each element of its input to the power 63, with few multiplications"
FLOATING = "The input may have any floating type"
NOTHING_BUT = "One input, one output, and between them nothing but `mul`"
ALL_COUNT = "All operations count, also those that are never read"
BOUND = "16 multiplications are the bound"

background("u01.power", "`trace(function, \"f32[4]\")` makes a graph ... all that y needs",
           because="how graphs are made; any other way will do")  # fmt: skip


@checks("u01.power", spec=[RAISES, FLOATING, NOTHING_BUT, ALL_COUNT, BOUND])
def is_the_power_63(power):
    """One input, products only, and the result is the 63rd power; at most 16 of them."""
    graph = valid_graph(power())
    others = sorted({n.op for n in graph.nodes if n.op not in ("input", "mul")})
    if len(graph.inputs) != 1 or len(graph.outputs) != 1 or others:
        also = f" Yours also has {', '.join(others)}." if others else ""
        problem = f"The program must have one input, one output, and nothing but mul.{also}"
        raise Wrong(problem, program=graph, spec=NOTHING_BUT)
    (x,), (y,) = graph.inputs, graph.outputs
    if not x.type.dtype.is_float:
        problem = f"The input is {x.type}; numbers of that type are whole."
        raise Wrong(problem, program=graph, spec=FLOATING)
    exponent = {x: 1}
    for node in graph.ops:
        exponent[node] = sum(exponent[i] for i in node.inputs)
    if exponent[y] != 63:
        raise Wrong("The output must be the power 63.", program=graph,
                    got=f"the power {exponent[y]}", expected="the power 63",
                    spec=RAISES)  # fmt: skip
    count = len(graph.ops)
    if count > 16:
        shown = graph if count < 40 else ""
        raise Wrong(f"{BOUND}; here are {count}.", program=shown, spec=BOUND)
    seen = f"{count} multiplications; 8 is the best there is, 16 the bound"
    return Score(max(0.5, 1 - (count - 8) / 10), seen)


# ── u01.wrong_line ──

ANSWER = 'Answer with the value that the wrong line defines, such as "%12"'
OTHER = "One of the two changes gives another result; the other one gives the same"

background("u01.wrong_line", "Two numbers in the listing are not ... Every type is still right",
           because="what was done to the listing")  # fmt: skip


@checks("u01.wrong_line", spec=["Which line makes the result wrong?", OTHER, ANSWER])
def is_the_wrong_one(wrong_line):
    """The line that makes the result wrong."""
    name = value_name(wrong_line())
    if name != value_name(ours("u01.wrong_line")):
        raise Wrong("This line is as torch-mlir wrote it, or its number was changed without any "
                    "effect on the result. Follow what it defines down to the result.",
                    got=f"%{name}", spec=OTHER)  # fmt: skip
    return "the line that changes the result"


def value_name(got: Any) -> str:
    """The name of a value: "%5", "5" and 5 are the same."""
    text = str(got).strip().lstrip("%") if isinstance(got, (str, int, np.integer)) else ""
    if isinstance(got, bool) or not text.isdecimal() or int(text) > 15:
        raise Wrong("The answer must name a value of the listing, %0 to %15.",
                    got=repr(got), expected='such as "%12"', spec=ANSWER)  # fmt: skip
    return text


# ── u01.limit ──

PER_BYTE = "FLOP per byte of a product"
TWO_FLOP = "A multiply-add is two FLOP; each of the three matrices crosses the memory bus once"
DIGITS = "Answer with that number, to three digits, give or take one in the last"
ABOVE = "The longer k is, the higher the intensity, and yet it never gets above one number"


@checks("u01.limit", spec=[PER_BYTE, TWO_FLOP, ABOVE, DIGITS])
def is_the_limit(limit):
    """The number that the intensity never reaches."""
    got = a_number(limit(), unit="FLOP/byte")
    if math.isclose(got, ours("u01.limit"), rel_tol=0.002):
        return "the limit, to three digits"
    for factor, why in _FACTORS.items():
        if math.isclose(got * factor, ours("u01.limit"), rel_tol=0.002):
            raise Wrong(why, got=f"{got:.6g} FLOP/byte", spec=TWO_FLOP)
    raise Wrong("This is not the answer.", got=f"{got:.6g} FLOP/byte", spec=PER_BYTE)


# what is missing in the answer, and where it was lost
_FACTORS = {
    2: "Half of it: a multiply-add is two FLOP, and an element of f32 has 4 bytes, not 8.",
    4: "A quarter of it: a multiply-add is two FLOP, and an element of f32 has 4 bytes, not 8.",
    1 / 2: "Twice as much: these are multiply-adds for each element, not FLOP for each byte.",
    1 / 4: "Four times as much: these are FLOP for each element, and one of f32 has 4 bytes.",
}
