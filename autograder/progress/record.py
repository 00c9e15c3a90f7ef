"""What is noted while somebody works: the outcome of a check, a guess and what came out.

    checked(verdict)                          {"state": "passed", "earned": 3.0, "checks": 4, ...}
    guessed("u02.nodes", 40, "nodes")
    came_out("u02.nodes", 58, "nodes")        beside the guess, if there is one

An exercise that has passed once stays passed, with the most points that it earned; `last` says what
the latest check found. Next room: state.py, which puts this together.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from autograder.check.verdict import CRASHED, LATER, PASSED, TIMED_OUT, WRONG, Verdict, lacks_points
from autograder.progress.keep import PREDICTIONS, PROGRESS, Data, change, keeping, number, table

TRIED = "tried"
ATTEMPTS = (WRONG, CRASHED, TIMED_OUT, PASSED, LATER)


def checked(verdict: Verdict) -> None:
    """Note what a check in a notebook found; nothing of what was not attempted."""
    if verdict.kind not in ATTEMPTS or not keeping():
        return

    def how(data: Data) -> None:
        entries = data["exercises"] = table(data, "exercises")
        old = table(entries, verdict.exercise)
        new: Data = {
            "state": state_of(verdict),
            "earned": max(number(verdict.earned), number(old.get("earned"))),
            "checks": int(number(old.get("checks"))) + 1,
            "last": verdict.kind,
            "on": date.today().isoformat(),
        }
        if old.get("state") == PASSED and new["state"] != PASSED:
            new |= {"state": PASSED, "on": old.get("on", new["on"])}
        entries[verdict.exercise] = {**old, **new}  # what a newer version wrote there stays

    change(PROGRESS, how)


def state_of(verdict: Verdict) -> str:
    """ "passed" with all points, "later" where the grader decides, or "tried"."""
    if verdict.kind == PASSED and not lacks_points(verdict):
        return PASSED
    return LATER if verdict.kind == LATER else TRIED


def guessed(key: str, value: Any, unit: str) -> bool:
    """Keep a guess beside the notebook, in place of an earlier one."""
    return change(PREDICTIONS, lambda data: data.update({key: {"value": value, "unit": unit}}))


def came_out(key: str, actual: Any, unit: str) -> None:
    """Keep what came out beside the guess."""
    if not keeping():
        return

    def how(data: Data) -> None:
        if table(data, key):
            data[key] |= {"actual": plain(actual), "unit": unit}

    change(PREDICTIONS, how)


def plain(value: Any) -> Any:
    """A number or a text, whatever library it is from."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)
