"""Visible checks of unit 5 on registers that are constant and blocks that never run.

Random programs are run: what an answer calls constant must be so in each run.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from autograder.check.blocks import programs
from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.steps import OutOfSteps, with_steps
from course_lib.llvm.inspect.rows import Blocks, as_python, run

NAME = "llvm.constants"
RETURNS = "the constant registers with their numbers, and the set of the blocks that may run"
ENTRY = "The entry may run, and so may each block to which a block that may run can go"
OPERAND = "An operand is a number or the name of a register"
YES = "goes to `yes` if the condition is 1, to `no` if it is 0"
BOTH = "can go to both if it varies"
CONSTANT = "is constant if all its operands are and `computed(op, *operands)` is not None"
RUNS = "A register of a block that may run is constant"
PHI = "counts only the blocks that can go to its own block"
SAME = "it is constant if their operands are one and the same constant"
BEST = "return the one with the fewest blocks, and in these the most constants"
AGAIN = "Look at a block again only when something that it depends on has changed"
background(NAME, "Which registers are constant, and which blocks may run?", because="the question")

WHY = "is every block looked at again, or does the list of blocks never become empty?"
RET, N = (None, "ret", 0), "n"


def to(*operands: Any) -> tuple:
    return (None, "br", *operands)


def loop(*rows: tuple, over: tuple) -> Blocks:
    """entry -> loop -> loop or done."""
    return {"entry": [to("loop")], "loop": [*rows, ("over", *over), to("over", "done", "loop")],
            "done": [RET]}  # fmt: skip


def diamond(condition: Any, yes: Any, no: Any, *more: tuple, **blocks: list) -> Blocks:
    """An if with a phi behind it."""
    phi = ("x", "phi", ("left", "l"), ("right", "r"))
    return {"top": [to(condition, "left", "right")], "left": [("l", "add i64", yes, 0), to("end")],
            "right": [("r", "add i64", no, 0), to("end")], "end": [phi, *(more or [RET])],
            **blocks}  # fmt: skip


ROW = {f"b{k}": [(f"x{k}", "add i64", 1, 1), to(f"b{k + 1}")] for k in (0, *range(119, 0, -1))}

# (the program, its constant registers, the blocks that may run, the sentence)
CASES: list[tuple[Blocks, dict[str, int], str, str]] = [
    ({"here": [RET]}, {}, "here", ENTRY),
    ({"here": [("x", "add i64", 3, 4), ("y", "mul i64", "x", 0), RET]}, {"x": 7, "y": 0},
     "here", CONSTANT),
    ({"z": [("x", "sub i64", 3, 1), to("a")], "a": [("y", "mul i64", "x", 2), RET]},
     {"x": 2, "y": 4}, "z a", "the first one is the entry"),
    ({"here": [("x", "add i64", N, 1), ("y", "mul i64", "x", 0), RET]}, {}, "here",
     "A name that no row assigns varies"),
    ({"here": [("x", "add i64", 2**63 - 1, 1), ("y", "sdiv i64", 8, 0), ("z", "add i64", "y", 1),
               RET]}, {"x": -(2**63)}, "here", CONSTANT),
    ({"a": [(None, "store", 1, "p"), ("x", "load", "p"), to("c")], "b": [RET], "c": [RET]}, {},
     "a c", '`(None, "br", block)` goes to that block'),
    ({"a": [to(1, "b", "c")], "b": [to(0, "b", "d")], "c": [RET], "d": [RET]}, {}, "a b d", YES),
    (diamond(0, 5, 6), {"r": 6, "x": 6}, "top right end", PHI),
    (diamond(N, 5, 5), {"l": 5, "r": 5, "x": 5}, "top left right end", SAME),
    (diamond(N, 0, N), {"l": 0}, "top left right end", "Everything else varies"),
    ({"a": [("c", "icmp slt i64", 5, 3), to("c", "b", "d")], "b": [("x", "add i64", 1, 1), to("d")],
      "d": [("y", "phi", ("a", 7), ("b", 8)), RET]}, {"c": 0, "y": 7}, "a d", RUNS),
    ({"a": [to(N, "b", "b")], "b": [("x", "phi", ("a", 3), ("a", 3)), RET]}, {"x": 3}, "a b", SAME),
    # what is 0 or 1 is less than 5, but that is no constant
    (diamond(N, 0, 1, ("c", "icmp slt i64", "x", 5), to("c", "f", "g"), f=[RET], g=[RET]),
     {"l": 0, "r": 1}, "top left right end f g", BOTH),
    (loop(("i", "phi", ("entry", 0), ("loop", "j")), ("j", "add i64", "i", 1),
          over=("icmp sge i64", "j", 9)), {}, "entry loop done", SAME),
    *((loop(("i", "phi", ("entry", 2), ("loop", "j")), ("j", "mul i64", "i", 1),
            over=("icmp eq i64", "j", last)), {"i": 2, "j": 2, **over}, runs, BEST)
      for last, over, runs in [(N, {}, "entry loop done"), (2, {"over": 1}, "entry loop done"),
                               (3, {"over": 0}, "entry loop")]),
    *((loop(("i", "phi", ("entry", 1), ("loop", "j")), ("j", "phi", ("entry", k), ("loop", "i")),
            over=("icmp eq i64", N, 0)), both, "entry loop done", "Of the results that agree")
      for k, both in [(2, {}), (1, {"i": 1, "j": 1})]),
    # a circle: `other` never runs because x is 4
    ({"a": [to("b")], "b": [("x", "phi", ("a", 4), ("d", "y")), ("c", "icmp eq i64", "x", 4),
                            to("c", "d", "other")], "other": [("h", "sdiv i64", "x", 2), to("d")],
      "d": [("y", "phi", ("b", "x"), ("other", "h")), to(N, "b", "e")], "e": [RET]},
     {"x": 4, "c": 1, "y": 4}, "a b d e", BEST),
    # the second time, the loop goes another way, and then what was constant varies
    ({"a": [to("b")], "b": [("x", "phi", ("a", 1), ("d", "y")), ("c", "icmp eq i64", "x", 1),
                            to("c", "d", "e")],
      "d": [("y", "phi", ("b", 2), ("e", "x")), to("b")], "e": [("z", "add i64", "x", 1), to("d")]},
     {}, "a b d e", AGAIN),
    # a block is looked at again because of a new edge alone, because of a condition, or an operand
    *(({"a": [to("b")], "b": [("x", "phi", ("a", 1), ("d", back)), to("f")],
        "f": [("c", "icmp eq i64", "x", 1), to("d")], "d": [*more, to("c", "b", "e")], "e": [RET]},
       {}, "a b d e f", AGAIN) for back, more in [(2, []), ("y", [("y", "add i64", "x", 1)])]),
    # two blocks to which nothing else leads, and one that reads a register and never runs
    ({"a": [to(0, "b", "d")], "b": [("x", "add i64", 2, 2), to("c")], "c": [to("b")], "d": [RET]},
     {}, "a d", BEST),
    ({"a": [("x", "add i64", N, 0), to(0, "b", "c")], "b": [("y", "mul i64", "x", 2), to("c")],
      "c": [("z", "phi", ("a", 1), ("b", "y")), RET]}, {"z": 1}, "a c", PHI),
    # a row of 121 blocks, listed from the last one to the first
    ({**ROW, "b120": [RET]}, {f"x{k}": 2 for k in range(120)}, " ".join([*ROW, "b120"]), AGAIN),
]  # fmt: skip


@for_each(NAME, CASES, "{} small programs", spec=[RETURNS, OPERAND])
def small_programs(constants, blocks, numbers, runs, spec):
    """A few blocks, each about one rule."""
    same(constants, blocks, numbers, set(runs.split()), spec)


def same(constants: Any, blocks: Blocks, numbers: dict[str, int], runs: Set[str], spec: str = ""):
    """Exactly these registers and these blocks."""
    got = answered(constants, blocks)
    words = [f"Block {b} {'may run' if b in runs else 'never runs'}; the result says otherwise."
             for b in sorted(got[1] ^ runs)]  # fmt: skip
    for name in sorted({*numbers, *got[0]}):
        must, here = (part.get(name, "left out") for part in (numbers, got[0]))
        words += [f"Register {name} must be {must}; here it is {here}."] * (must != here)
    if words:
        raise wrong(words[0], blocks, got, spec, (numbers, runs))


def answered(constants: Any, blocks: Blocks) -> tuple[dict[str, int], set[str]]:
    """What the answer says of a program, if it has the form that was asked for."""
    try:
        result = with_steps(constants, 40_000, "this program", WHY)(dict(blocks))
    except OutOfSteps as stop:
        stop.program = as_python(blocks)
        raise
    match result:
        case [Mapping() as numbers, Set() | list() | tuple() as runs]:
            numerals = all(isinstance(number, (int, np.integer)) for number in numbers.values())
            if numerals and all(isinstance(name, str) for name in [*numbers, *runs]):
                return {name: int(number) for name, number in numbers.items()}, set(runs)
    raise Wrong("The result must be a pair: a dict from names to whole numbers, a set of names.",
                program=as_python(blocks), got=repr(result), spec=RETURNS)  # fmt: skip


def wrong(problem: str, blocks: Blocks, got: Any, spec: str, right: Any = None) -> Wrong:
    """Both parts of a result are shown in an order that is always the same."""
    here, must = (f"{dict(sorted(n.items()))}, {sorted(runs)}" for n, runs in (got, right or got))
    return Wrong(
        problem, program=as_python(blocks), got=here, expected=must * bool(right), spec=spec
    )


@checks(NAME, given=programs(), examples=60, what="random programs, three runs of each",
        spec=[ENTRY, YES, CONSTANT, PHI, SAME])  # fmt: skip
def holds_in_each_run(constants, blocks):
    """What is called constant is so in each run, and no other block runs."""
    got = numbers, runs = answered(constants, blocks)
    for argument in (0, 3, -5):
        seen, path = run(blocks, argument, steps=300)
        for block in sorted({*path} - runs):
            raise wrong(f"With n = {argument}, block {block} runs.", blocks, got, ENTRY)
        for name in sorted({*numbers} & {*seen}):
            if odd := {*seen[name]} - {numbers[name]}:
                words = f"With n = {argument}, register {name} is {min(odd)} at some time."
                raise wrong(words, blocks, got, SAME)


@checks(NAME, given=programs(closed=True), examples=40, spec=[CONSTANT, YES, PHI, RUNS],
        what="programs without loops and arguments")  # fmt: skip
def knows_the_only_run(constants, blocks):
    """Without a loop, an argument or a call there is one run, and all of it is known."""
    seen, path = run(blocks, 0, steps=300)
    same(constants, blocks, {name: found[0] for name, found in seen.items()}, {*path}, BEST)
