"""How far a student is in a unit or lab: what `check()` shows; a line for a card that passed.

    key_of_this_notebook()           # "u02", or "u07_lab_matmul" in a lab
    exercises_in("u02")              # its exercises, in the order of the notebook
    overview("u02", verdicts)        # a card: each exercise, its state, its points; the next step
    so_far("u02")                    # the sum and the next step in one line, for one that passed

What counts is what was checked since the kernel started. Next room: autograder/notebook.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.check import framework
from autograder.check.attempts import ANSWERED, failed
from autograder.check.cards import Card, Table
from autograder.check.keys import called, is_lab, key_in
from autograder.check.loading import load_unit
from autograder.check.verdict import (
    BY_HAND,
    LATER,
    PASSED,
    Verdict,
    headline,
    lacks_points,
    score,
)
from course_lib import exercises
from course_lib.exercises import Slot, UnknownExercise, slot

FILE = re.compile(r"(?:^|[/\\])(u\d\d_[^/\\]*)$")
ASKED = re.compile(r"""\b(?:check|hint)\(\s*["']([\w.]+)["']""")
HEADING = re.compile(r"#### Exercise `([\w.]+)`")
Plugs = dict[str, Callable[..., Any] | None]
_judged: dict[str, tuple[Plugs, Verdict]] = {}  # by exercise: the answers then, and the verdict


def remember(entry: Slot, verdict: Verdict) -> None:
    _judged[entry.name] = _answers(entry), verdict


def known(entry: Slot) -> Verdict | None:
    """The verdict on the answer as it is now, if there is one."""
    if failed(entry.name):
        return None
    answers, verdict = _judged.get(entry.name, ({}, None))
    return verdict if answers == _answers(entry) else None


def _answers(entry: Slot) -> Plugs:
    """The answer, and those that it stands on."""
    return {name: slot(name).plugged for name in (entry.name, *entry.uses)}


def key_of_this_notebook() -> str | None:
    """By the notebook's file name; else by the exercises that were asked for or answered last."""
    names = _user_names()
    files = (names.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME"))
    for file in files:
        if file and (match := FILE.search(str(file))):
            return key_in(match[1])
    for name in _named_last_first(names.get("In", [])):
        try:
            return slot(name).key
        except UnknownExercise:
            continue
    return None


def _named_last_first(cells: Iterable[str]) -> Iterator[str]:
    for cell in reversed(list(cells)):
        yield from reversed([*ANSWERED.findall(cell), *ASKED.findall(cell)])
    yield from reversed([*exercises.plugs_now(), *_judged])


def _user_names() -> dict[str, Any]:
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return {}
    shell = get_ipython()
    return {} if shell is None else shell.user_ns


def exercises_in(key: str) -> list[Slot]:
    """All exercises of the unit or lab: as its notebook has them, if it is in this folder."""
    load_unit("exercises", key)
    load_unit("checks", key)
    entries = {name: slot(name) for name in framework.checked_names()}
    entries |= {entry.name: entry for entry in exercises.slots()}
    entries = {name: entry for name, entry in entries.items() if entry.key == key}
    order = [name for name in _headings(key) if name in entries]
    rest = sorted((n for n in entries if n not in order), key=lambda name: entries[name].further)
    return [entries[name] for name in dict.fromkeys([*order, *rest])]


def _headings(key: str) -> list[str]:
    """The exercises that its notebook names, from top to bottom."""
    for path in sorted(p for p in Path().glob("u*.ipynb") if key_in(p.name) == key):
        try:
            return HEADING.findall(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
    return []


def overview(key: str, verdicts: list[Verdict]) -> Card:
    """Each exercise with its state and its points, the sums, and what to do next."""
    core, further = ([_row(v) for v in verdicts if v.further == one] for one in (False, True))
    rows = [*core, ("Further, for a bonus", "", ""), *further] if further else core
    by_hand = sum(v.points for v in verdicts if v.kind == BY_HAND and not v.further)
    notes = [f"A person grades answers in words: {by_hand:g} of the points."] if by_hand else []
    if further:
        notes.append(f"Bonus: {_earned(verdicts, True)}.")
    table = Table(("Exercise", "State", "Points"), tuple(rows))
    parts = filter(None, (table, " ".join(notes), _next(key, verdicts)))
    return Card(_title(key, verdicts), tuple(parts), tone="open")


def so_far(key: str) -> str:
    """The sum and the next step, from what is known."""
    verdicts = [known(entry) or _unknown(entry) for entry in exercises_in(key)]
    return f"{_title(key, verdicts)}. {_next(key, verdicts)}"


def _row(verdict: Verdict) -> tuple[str, str, str]:
    points = score(verdict).removesuffix("bonus points").removesuffix("points").strip()
    return f"`{verdict.exercise}`", headline(verdict), points


def _title(key: str, verdicts: list[Verdict]) -> str:
    return f"{called(key).capitalize()}: {_earned(verdicts, False)} so far"


def _unknown(entry: Slot) -> Verdict:
    is_text = entry.kind == "explain"
    return Verdict.on(entry, BY_HAND if is_text else framework.NOT_ATTEMPTED, None)


def _earned(verdicts: list[Verdict], further: bool) -> str:
    """ "11 of 24 points", of the core or of what is beyond it."""
    ours = [v for v in verdicts if v.further == further]
    earned, possible = sum(v.earned or 0.0 for v in ours), sum(v.points for v in ours)
    return f"{round(earned, 2):g} of {possible:g} points"


def _next(key: str, verdicts: list[Verdict]) -> str:
    """The first exercise of the core that has points left; then those in words; then further."""
    open_ones = [v for v in verdicts if v.kind not in (PASSED, LATER) or lacks_points(v)]
    checked = [v for v in open_ones if v.kind != BY_HAND]
    core = [v for v in checked if not v.further]
    if core:
        return f"Next: {_named(core[0])}."
    in_words = ", ".join(f"`{v.exercise}`" for v in open_ones if v.kind == BY_HAND)
    text = f"What is left of the core is answered in words: {in_words}." if in_words else ""
    text = text or ("The lab is done." if is_lab(key) else "The core of the unit is done.")
    return f"{text} Further: {_named(checked[0])}." if checked else text


def _named(verdict: Verdict) -> str:
    unit = "bonus point" if verdict.further else "point"
    return f"`{verdict.exercise}`, {verdict.points:g} {unit}{'s' * (verdict.points != 1)}"
