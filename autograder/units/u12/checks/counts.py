"""Visible checks of the counts: clocks with slow weights, definitions, and the chosen array.

`worth` and `cycles_on` judge an answer, here and in the hidden checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.check.framework import Score, Wrong, checks
from autograder.check.properties import a_number
from autograder.check.steps import with_steps
from course_lib.accelerator.array import closed
from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.array.timing import timing
from course_lib.accelerator.systolic import SystolicArray

ONE = ("Loading a fold takes `wait` clocks for each row of `array`", "In the clock after that, the "
       "first operand enters cell (0, 0)", "Row i of the cells starts i clocks later, column j "
       "starts j clocks later, and every cell works for `time` clocks", "A fold ends when its last "
       "cell is done", "Count exactly, from the first load to the end of the last fold",
       "that gets a row of weights every `wait` clocks",
       "It works on `folds` folds, with `time` rows of operands for each")  # fmt: skip
ALONE = "If `array.shadow` is False, the next load begins after that"
SHADOW = ("If it is True, the next load begins in the clock in which this fold's first operand "
          "enters", "The next fold's first operand enters in the clock after that load or after "
          "this fold's last operand has entered cell (0, 0), whichever is later")  # fmt: skip
BILLION = "A billion folds must take no more steps than one"

# folds, time, rows, cols, shadow, wait: one thing after another becomes more than 1
CASES = {
    (1, 4, 4, 4, False, 1): (ONE[2], 14),
    (1, 1, 1, 1, True, 3): (ONE[0], 4),
    (1, 5, 3, 2, False, 2): (ONE[0], 14),
    (2, 5, 3, 2, False, 1): (ALONE, 22),
    (3, 5, 3, 2, False, 4): (ALONE, 60),
    (2, 5, 3, 2, True, 1): (SHADOW[1], 16),
    (2, 2, 5, 2, True, 1): (SHADOW[1], 17),
    (4, 6, 3, 2, True, 4): (SHADOW[0], 57),
    (1000, 200, 256, 256, True, 5): (SHADOW[0], 1_280_710),
}
WORDS = "folds {}, time {}, {} x {} cells, shadow {}, wait {}"


@checks("u12.clocks", spec=[*ONE, ALONE, *SHADOW])
def as_the_controller_counts(clocks):
    """With a row of weights in every clock, the library's controller needs as many clocks."""
    for folds, time, rows, cols in ((1, 1, 1, 1), (2, 3, 4, 5), (3, 7, 2, 1), (5, 2, 6, 3)):
        for shadow in (False, True):
            array = SystolicArray(rows, cols, dataflow="ws", shadow=shadow)
            due = timing(Folding(array, time, rows * folds, cols))[-1].end
            got = asked(clocks, case := (folds, time, rows, cols, shadow, 1))
            if got != due:
                raise Wrong("The library's controller needs a different number of clocks.",
                            program=WORDS.format(*case), got=f"{got:g} clocks",
                            expected=f"{due} clocks",
                            spec=SHADOW[1] if shadow else ALONE)  # fmt: skip
    return "8 arrays, beside the library's controller"


@checks("u12.clocks", spec=[*ONE, ALONE, *SHADOW])
def known_cases(clocks):
    """Folds, streams and loads, from the smallest to a large one."""
    for case, (spec, right) in CASES.items():
        got = asked(clocks, case)
        if got != right:
            raise Wrong("The clocks must be counted exactly.", program=WORDS.format(*case),
                        got=f"{got:,.10g} clocks", spec=spec)  # fmt: skip
    return f"{len(CASES)} cases"


def asked(clocks: Any, case: tuple[int, int, int, int, bool, int]) -> float:
    folds, time, rows, cols, shadow, wait = case
    array = SystolicArray(rows, cols, dataflow="ws", shadow=shadow)
    got = a_number(clocks(folds, time, array, wait), unit="clocks")
    if got % 1:
        raise Wrong("Clocks are whole numbers.", program=WORDS.format(*case), got=f"{got:g}",
                    spec=ONE[4])  # fmt: skip
    return got


@checks("u12.clocks", spec=BILLION)
def no_walk_over_the_folds(clocks):
    """A billion folds."""
    few = with_steps(clocks, 1000, "a billion folds", "each fold is looked at")
    for shadow in (False, True):
        asked(few, (10**9, 5, 3, 2, shadow, 4))


LETTERS = {
    "A": "Output-stationary, without the drain.",
    "B": "The number of A's last clock, if the first one has the number 0.",
    "C": "Output-stationary, with the drain.",
    "D": "Weight-stationary, without shadow registers.",
    "E": "Weight-stationary, with shadow registers.",
    "F": "The multiply-accumulates divided by the number of cells, rounded up.",
}
RETURN = ("Return the letters of all of them", 'Return "" if there is none',
          "Which definitions give `reported` cycles for a product")  # fmt: skip
# (m, k, n, rows, cols, reported)
REPORTS = {
    (4, 4, 4, 4, 4, 9): "B",
    (4, 4, 4, 4, 4, 10): "A",
    (4, 4, 4, 4, 4, 14): "CDE",
    (4, 4, 4, 4, 4, 4): "F",
    (4, 4, 4, 4, 4, 15): "",
    (9, 5, 7, 4, 2, 123): "",
    (9, 5, 7, 4, 2, 108): "A",
    (9, 5, 7, 4, 2, 107): "B",
    (9, 5, 7, 4, 2, 156): "C",
    (9, 5, 7, 4, 2, 152): "",
    (9, 5, 7, 4, 2, 136): "D",
    (9, 5, 7, 4, 2, 80): "E",
    (9, 5, 7, 4, 2, 40): "F",
    (3, 5, 3, 2, 4, 6): "F",
}


@checks("u12.which", spec=[*RETURN, *LETTERS.values()])
def the_definitions(which):
    """Which definitions give a number."""
    for case, right in REPORTS.items():
        got = letters(which, case)
        if got != right:
            m, k, n, rows, cols, reported = case
            raise Wrong("Name all definitions that give this number, and no others.",
                        got=repr(got) if got else "no definition",
                        program=f"[{m}, {k}] x [{k}, {n}] on {rows} x {cols} cells, {reported} "
                        "cycles reported", spec=RETURN[0])  # fmt: skip
    return f"{len(REPORTS)} reports"


def letters(which: Any, case: tuple[int, ...]) -> str:
    """The letters in the order of the table."""
    got = which(*case)
    if not isinstance(got, str) or not set(got.upper()) <= {*LETTERS, " ", ","}:
        said = "nothing (is a `return` missing?)" if got is None else repr(got)[:100]
        raise Wrong('The answer must be a string of letters from A to F, such as "BD".', got=said,
                    spec=RETURN[0])  # fmt: skip
    return "".join(sorted(set(got.upper()) & set(LETTERS)))


CHOICE = ("It has exactly `cells` cells, in any number of rows, and any dataflow",
          "It has no shadow registers and does not count a drain")  # fmt: skip
FAST = ("An array with `cells` cells that is fast at the product", "Your points depend on the mean "
        "of (fewest cycles / your cycles) over a list of products")  # fmt: skip
POINTS = "0.999 or more earns all points, and each hundredth below that costs 2 %"
# m, k, n, cells, and the fewest cycles of any array: layers of the course's models, and others
LAYERS = [
    (12544, 147, 64, 1024, 126_380),
    (3136, 576, 64, 1024, 116_280),
    (784, 1152, 128, 1024, 120_540),
    (49, 4608, 512, 1024, 126_516),
    (1, 512, 1000, 1024, 1535),
    (1000, 512, 1, 1024, 1535),
    (12544, 9, 1, 1024, 12_638),
    (49, 9, 1, 1024, 87),
    (3136, 16, 96, 1024, 6460),
    (128, 256, 1024, 720, 52_752),
    (300, 147, 64, 210, 17_100),
    (128, 256, 1024, 1000, 43_368),
    (1, 784, 512, 256, 2078),
]


def cycles_on(choose: Any, m: int, k: int, n: int, cells: int) -> int:
    array = choose(m, k, n, cells)
    case = f"[{m}, {k}] x [{k}, {n}], {cells} cells"
    if not isinstance(array, SystolicArray):
        said = "nothing (is a `return` missing?)" if array is None else repr(array)[:100]
        raise Wrong("The answer must be a SystolicArray.", program=case, got=said, spec=FAST[0])
    if array.rows * array.cols != cells:
        raise Wrong(f"The array must have exactly {cells} cells.", program=case,
                    got=f"{array.rows} x {array.cols}", spec=CHOICE[0])  # fmt: skip
    if array.shadow or array.drain:
        raise Wrong("The array must have no shadow registers and count no drain.", program=case,
                    got=str(array), spec=CHOICE[1])  # fmt: skip
    return closed.cycles(m, k, n, array)


def worth(shares: Sequence[float]) -> tuple[float, float]:
    """The mean of fewest / yours, and the part of the points that it earns."""
    mean = sum(shares) / len(shares)
    return mean, min(1.0, max(0.25, 1.0 - 2 * (0.999 - mean)))


@checks("u12.choose", spec=[*CHOICE, *FAST, POINTS, "down to a quarter"])
def few_cycles(choose):
    """Cycles of thirteen products, each on the array that was chosen for it."""
    shares, worst = [], (1.0, "")
    for *case, fewest in LAYERS:
        cycles = cycles_on(choose, *case)
        shares.append(fewest / cycles)
        m, k, n, cells = case
        said = f"[{m}, {k}] x [{k}, {n}] on {cells} cells takes {cycles:,} cycles"
        said += f"; {fewest:,} are possible"
        worst = min(worst, (shares[-1], said))
    mean, fraction = worth(shares)
    said = f"fewest / yours: {mean:.3f} on average over {len(LAYERS)} products; "
    said += "all points from 0.999"
    return Score(fraction, f"{said}. {worst[1]}" if fraction < 1 else said)
