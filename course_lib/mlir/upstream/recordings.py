"""What a tool made of a module some other day, for machines without the tool.

    // tool: torch-mlir 20261001                the form of `course_lib/recorded.py`
    // ===== given
    module @main { ...                          what it was given
    // ===== 0
    module @main { ...                          what it read
    // ===== 1 canonicalize
    module @main { ...                          after that pass

A recording answers for one text and one list of passes, and for nothing else.
What makes them is in the next room. Next room: `makers.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from course_lib.recorded import Recording, read

FOLDER = Path(__file__).parent / "recorded"
GIVEN = "given"


def recording_of(text: str, passes: Sequence[str]) -> Recording | None:
    """The recording of just this, if there is one."""
    for kept in _all():
        if kept[GIVEN] == text and [name for name, _ in states(kept)[1:]] == list(passes):
            return kept
    return None


@cache
def _all() -> list[Recording]:
    return [read(path) for path in sorted(FOLDER.glob("*.mlir"))]


def states(kept: Recording) -> list[tuple[str, str]]:
    """(pass, text after it) for each state; the first has no pass: it is what the tool read."""
    return [(name.partition(" ")[2], text) for name, text in kept.texts.items() if name != GIVEN]


def texts(given: str, states: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The texts of a recording. They are numbered, for a pass may run twice."""
    named = {f"{number} {name}".strip(): text for number, (name, text) in enumerate(states)}
    return {GIVEN: given, **named}
