"""Visible checks of the counts: clocks with slow weights, definitions, packing.

`exactly`, `named` and `takes_the_fewest` judge an answer, here and in the hidden checks.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.properties import a_number
from autograder.check.shown import returned
from autograder.check.steps import with_steps
from course_lib.accelerator.array import closed
from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.array.timing import timing
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import slot

ONE = ("Loading a fold takes `wait` clocks for each row", "In the clock after that, the first",
       "Row i of the cells starts i clocks later", "A fold ends when its last cell is done",
       "that gets a row of weights every `wait`",
       "It works on `folds` folds, with `time` rows")  # fmt: skip
EXACT = "Count exactly, from the first load to the end"
ALONE = "If `array.shadow` is False, the next load begins after the end of"
SHADOW = (
    "If it is True, the next load begins in the clock",
    "The next fold's first operand enters",
)
BILLION = "A billion folds, or rows of operands, must take no more steps than one"
STEPS = 1000

Case = tuple[int, int, int, int, bool, int]  # folds, time, rows, cols, shadow, wait
# One thing after another becomes more than 1, so that a wrong count goes against that sentence.
# Where several are, it cannot be known which sentence it goes against.
CASES: list[tuple[str, dict[Case, int]]] = [
    (EXACT, {(1, 1, 1, 1, False, 1): 2, (1, 1, 1, 1, True, 1): 2}),
    # With shadow registers, the only fold may have been given a load's length.
    (ONE[0], {(1, 1, 1, 1, False, 3): 4}), (EXACT, {(1, 1, 1, 1, True, 3): 4}),
    (ONE[2], {(1, 5, 1, 1, False, 1): 6, (1, 5, 1, 4, False, 2): 10, (1, 5, 1, 4, True, 1): 9,
              (1, 5, 3, 1, False, 1): 10, (1, 5, 3, 2, False, 2): 14, (1, 5, 3, 2, True, 2): 14}),
    (ALONE, {(2, 1, 1, 1, False, 1): 4}), (ONE[0], {(2, 1, 1, 1, False, 3): 8}),
    (ALONE, {(3, 5, 3, 2, False, 4): 60}), (SHADOW[0], {(2, 5, 1, 1, True, 1): 11}),
    (SHADOW[1], {(2, 1, 3, 1, True, 1): 9, (4, 6, 3, 2, True, 4): 57, (3, 6, 3, 7, True, 2): 32}),
]  # fmt: skip
# So large that no walk gets there.
LARGE: dict[Case, int] = {
    (1000, 200, 256, 256, True, 5): 1_280_710,
    (20_000, 5, 3, 2, False, 4): 400_000,
    (500_000, 5, 3, 2, True, 4): 6_000_008,
    (1, 70_000, 300, 20, False, 900): 340_318,
    (3_000_001, 7, 2, 5, False, 3): 54_000_018,
    (1_000_000_000, 5, 3, 2, False, 4): 20_000_000_000,
    (1_000_000_000, 5, 3, 2, True, 4): 12_000_000_008,
    (1_000_000_007, 40, 3, 2, True, 4): 40_000_000_295,
    (3, 12_345_679, 30, 20, False, 7): 37_037_811,
    (2, 1_000_000_007, 3, 2, True, 100_003): 2_000_300_026,
    (1_000_000_007, 9_999_991, 5, 70_002, False, 1): 10_070_001_070_490_007,
    (1_000_000_007, 100_000_001, 3, 2, True, 1_000_003): 100_000_001_703_000_019,
    (1_000_000_007, 5, 1_000_003, 2, True, 701): 701_002_107_908_014_729,
}
WORDS = "folds {}, time {}, {} x {} cells, shadow {}, wait {}"


@checks("u12.clocks", spec=[*ONE, ALONE, *SHADOW, EXACT])
def known_cases(clocks):
    """Folds, streams and loads that are long one after the other."""
    for sentence, cases in CASES:
        for case, due in cases.items():
            exactly(clocks, case, due, sentence)
    return f"{sum(len(cases) for _, cases in CASES)} small cases"


@checks("u12.clocks", spec=EXACT)
def as_the_controller_counts(clocks):
    """With a row of weights in every clock, the library's controller needs as many clocks."""
    for folds, time, rows, cols in ((2, 3, 4, 5), (3, 7, 2, 1), (5, 2, 6, 3)):
        for shadow in (False, True):
            array = SystolicArray(rows, cols, dataflow="ws", shadow=shadow)
            due = timing(Folding(array, time, rows * folds, cols))[-1].end
            exactly(clocks, (folds, time, rows, cols, shadow, 1), due)
    return "6 arrays, beside the library's controller"


@checks("u12.clocks", spec=[EXACT, BILLION])
def large_cases(clocks):
    """Up to a billion folds of many rows."""
    for case, due in LARGE.items():
        exactly(clocks, case, due)
    return f"{len(LARGE)} large cases"


def exactly(clocks: Any, case: Case, due: int, spec: str = EXACT) -> None:
    """Wrong unless the answer counts `due` clocks, all digits of them."""
    folds, time, rows, cols, shadow, wait = case
    what = f"{folds:,} folds of {time:,} rows"
    few = with_steps(clocks, STEPS, what, "each fold, or each row, is looked at")
    got = few(folds, time, SystolicArray(rows, cols, dataflow="ws", shadow=shadow), wait)
    a_number(got, unit="clocks")
    if (count := np.asarray(got).item()) != due:
        raise Wrong("The clocks must be counted exactly.", program=WORDS.format(*case),
                    got=f"{count:,} clocks", expected=f"{due:,} clocks", spec=spec)  # fmt: skip


# The definitions, by their letters, as the exercise has them.
LETTERS = dict(re.findall(r"^([A-F])  (.*)$", slot("u12.which").doc, re.M))
RETURN = ("Return the letters of all of them", 'Return "" if there is none',
          "Which definitions give `reported` cycles for a product")  # fmt: skip
COUNTING = ("Count as the section above does: every fold takes as long as a full one",
            "In A, each fold waits until the last cell of the one before is done",
            "In C, each fold's sums then take `rows` clocks to move out",
            "In D and E, a row of weights arrives in every clock")  # fmt: skip
# m, k, n, rows, cols: what is reported, and the definitions that give it
REPORTS = {
    (4, 4, 4, 4, 4): {9: "B", 10: "A", 14: "CDE", 4: "F", 15: ""},
    (9, 5, 7, 4, 2): {123: "", 108: "A", 107: "B", 156: "C", 152: "", 136: "D", 80: "E", 40: "F"},
    (3, 5, 3, 2, 4): {6: "F"},
}


@checks("u12.which", spec=[*RETURN, *LETTERS.values(), *COUNTING])
def the_definitions(which):
    """Which definitions give a number."""
    for product, reports in REPORTS.items():
        for reported, right in reports.items():
            named(which, (*product, reported), right)
    return f"{sum(map(len, REPORTS.values()))} reports"


def named(which: Any, case: tuple[int, ...], right: str) -> None:
    """Wrong unless the answer names the definitions in `right`; quotes the first that differs."""
    got = letters(which, case)
    m, k, n, rows, cols, reported = case
    for letter, definition in LETTERS.items():
        if (letter in got) != (letter in right):
            gives = "gives" if letter in right else "does not give"
            raise Wrong(f"Definition {letter} {gives} {reported} cycles here.",
                        program=f"[{m}, {k}] x [{k}, {n}] on {rows} x {cols} cells, a report of "
                        f"{reported} cycles", got=f"the answer {got!r}",
                        expected=counted(*case[:5]), spec=definition)  # fmt: skip


def counts_of(m: int, k: int, n: int, rows: int, cols: int) -> dict[str, int]:
    """The cycles by each definition, as the library counts them."""
    kinds = {"A": (False, "os", False), "C": (True, "os", False), "D": (False, "ws", False),
             "E": (False, "ws", True)}  # fmt: skip
    counts = {letter: closed.cycles(m, k, n, SystolicArray(rows, cols, *kind))
              for letter, kind in kinds.items()}  # fmt: skip
    counts |= {"B": counts["A"] - 1, "F": -(-m * k * n // (rows * cols))}
    return dict(sorted(counts.items()))


def counted(*product: int) -> str:
    return ", ".join(f"{letter} {cycles:,}" for letter, cycles in counts_of(*product).items())


def letters(which: Any, case: tuple[int, ...]) -> str:
    """The letters in the order of the table."""
    got = which(*case)
    if not isinstance(got, str) or not set(got.upper()) <= {*LETTERS, " ", ","}:
        raise Wrong('The answer must be a string of letters from A to F, such as "BD".',
                    got=returned(got), spec=RETURN[0])  # fmt: skip
    return "".join(sorted(set(got.upper()) & set(LETTERS)))


# ── u12.pack ──

COUNTED = (
    "it is [m, g * window] x [g * window, g]",
    "Each of the `channels` channels is a product [m, window] x [window, 1]",
    "if channels are left over, a last product of those",
    "`closed.cycles` counts each",
    "so that a depthwise layer takes the fewest cycles",
)
RETURNED = ("Return g, a whole number from 1 to `channels`, exactly",
            "If several values of g take the fewest cycles, any of them will do")  # fmt: skip
# channels, m, window, rows, cols, dataflow, shadow, and the fewest cycles
PACKED = [
    (6, 20, 4, 8, 8, "ws", False, 126),
    (7, 100, 9, 16, 16, "ws", True, 446),
    (32, 12_544, 9, 32, 32, "ws", True, 112_990),
    (960, 49, 9, 256, 256, "ws", True, 10_940),
    (8, 13, 14, 6, 4, "ws", True, 288),
    (20, 30, 9, 8, 8, "os", False, 888),
    (50, 705, 16, 1, 1, "os", False, 564_000),
    (25, 1302, 24, 8, 3, "is", True, 260_461),
    (2, 1, 29, 2, 1, "is", True, 61),
    (500, 2, 1, 600, 600, "ws", True, 1800),
    (7, 1, 26, 8, 3, "is", False, 471),
    (8, 5, 1, 3, 2, "ws", True, 43),
]


def together(pack: Any, layer: tuple[int, int, int, int, int, str, bool]) -> int:
    """Cycles of the layer with as many channels in a product as the answer says."""
    channels, m, window, rows, cols, dataflow, shadow = layer
    array = SystolicArray(rows, cols, dataflow=dataflow, shadow=shadow)
    got = a_number(pack(channels, m, window, array), unit="channels")
    if got % 1 or not 1 <= got <= channels:
        raise Wrong(f"The answer must be a whole number from 1 to {channels}.", got=f"{got:g}",
                    program=described(layer), spec=RETURNED[0])  # fmt: skip
    whole, left = divmod(channels, int(got))
    sizes = [int(got)] * whole + [left] * (left > 0)
    return sum(closed.cycles(m, g * window, g, array) for g in sizes)


def described(layer: tuple[int, int, int, int, int, str, bool]) -> str:
    channels, m, window, rows, cols, dataflow, shadow = layer
    kept = f'dataflow="{dataflow}"{", shadow=True" if shadow else ""}'
    return f"pack({channels}, {m}, {window}, SystolicArray({rows}, {cols}, {kept}))"


def takes_the_fewest(pack: Any, layer: tuple[int, int, int, int, int, str, bool], due: int) -> None:
    cycles = together(pack, layer)
    if cycles > due:
        raise Wrong("A different number of channels in a product takes fewer cycles.",
                    program=described(layer), got=f"{cycles:,} cycles", expected=f"{due:,} cycles",
                    spec=COUNTED[4])  # fmt: skip


@checks("u12.pack", spec=[*COUNTED, *RETURNED, "The products run one after another on `array`"])
def fewest_cycles(pack):
    """Layers for which the fewest cycles are known."""
    for *layer, fewest in PACKED:
        takes_the_fewest(pack, tuple(layer), fewest)  # type: ignore[arg-type]
    return f"{len(PACKED)} layers"
