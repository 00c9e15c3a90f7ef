"""How exact must a number be? Its text says so, and the checks keep to it.

    "... in FLOP per byte? Right within 2 %."      1.9 % off passes, 3 % off does not
    "..., to three digits?"                        what is rounded to three digits passes
    "How many operations ...? Exactly."            one more does not pass

Whoever works a number out must know when to stop: 54.7 accepted and 55 refused teaches nothing.

Next room: exercise.py, which asks.
"""

from __future__ import annotations

import math
import re
from numbers import Integral, Real
from typing import Any

from autograder.soundness.verdicts import is_full, verdict_of
from course_lib.exercises import Slot

WITHIN = re.compile(r"\b[Ww]ithin (\d+(?:\.\d+)?) %")
DIGITS = re.compile(r"\bto (two|three|four|five) (?:significant )?digits\b")
EXACTLY = re.compile(r"\b[Ee]xact(?:ly)?\b")
WORDS = {"two": 2, "three": 3, "four": 4, "five": 5}
HOW = '"within 2 %", "to three digits" or "exactly"'


def precision_problems(entry: Slot) -> list[str]:
    """What is wrong with how exact a number has to be, in words."""
    if entry.kind != "number":
        return []
    text = " ".join(entry.doc.split())
    if not any(form.search(text) for form in (WITHIN, DIGITS, EXACTLY)):
        return [f"its text does not say how exact the number must be: {HOW}"]
    tried = [(_Off(entry, text, far, k), far) for far in (False, True) for k in range(2)]
    problems = []
    for answer, far in tried:
        passes = is_full(verdict_of(entry, answer, shrink=False))
        if answer.is_one_number and passes == far:
            verdict = "accepted" if passes else "refused"
            limit = "too far off" if far else "near enough"
            where = f"{answer.got:.6g} where {answer.right:.6g} is right"
            problems.append(f"{where} is {verdict}, and the text says that it is {limit}")
    return problems


class _Off:
    """Our answer, off by what the text allows or by more; `k` says to which side."""

    is_one_number = True
    got = right = math.nan  # of the latest call

    def __init__(self, entry: Slot, text: str, far: bool, k: int):
        self.entry, self.text, self.far, self.k = entry, text, far, k

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        right = self.entry.reference(*args, **kwargs)
        if isinstance(right, bool) or not isinstance(right, Real):
            self.is_one_number = False
            return right
        self.right = int(right) if isinstance(right, Integral) else float(right)
        self.got = bounds(self.text, self.right)[self.far][self.k]
        return self.got


def bounds(text: str, value: float) -> tuple[list[float], list[float]]:
    """Two numbers that are near enough by what the text says, and two that are not."""
    if match := WITHIN.search(text):
        off = float(match[1]) / 100
        near, far = (0.95 * off, -0.95 * off), (1.5 * off, -1.5 * off)
        return [value * (1 + part) for part in near], [value * (1 + part) for part in far]
    step: float = 1
    if match := DIGITS.search(text):
        digits = WORDS[match[1]]
        step = 10.0 ** (math.floor(math.log10(abs(value or 1.0))) - digits + 2)
        value = float(f"{value:.{digits}g}")
    return [value, value], [value + step, value - step]
