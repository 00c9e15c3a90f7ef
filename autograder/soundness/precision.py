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
from numbers import Real

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
    value = None if entry.signature.parameters else entry.reference()
    if not isinstance(value, Real) or not value or isinstance(value, bool):
        return []  # it depends on what it is asked about, or is more than one number
    enough, too_far = bounds(text, float(value))
    problems = [
        f"{number:.6g} is refused, and the text says that it is near enough"
        for number in enough
        if not is_full(verdict_of(entry, lambda n=number: n))
    ]
    return problems + [
        f"{number:.6g} is accepted, and the text says that it is too far off"
        for number in too_far
        if is_full(verdict_of(entry, lambda n=number: n))
    ]


def bounds(text: str, value: float) -> tuple[list[float], list[float]]:
    """Numbers that are near enough by what the text says, and numbers that are not."""
    if found := WITHIN.search(text):
        off = float(found[1]) / 100
        near, far = (0.95 * off, -0.95 * off), (1.5 * off, -1.5 * off)
        return [value * (1 + part) for part in near], [value * (1 + part) for part in far]
    step = 1.0
    if found := DIGITS.search(text):
        digits = WORDS[found[1]]
        step = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 2)
        value = float(f"{value:.{digits}g}")
    return [value], [value + step, value - step]
