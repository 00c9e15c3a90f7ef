"""What a tool made of a module some other day, kept as text, for machines without the tool.

    // recorded with torch-mlir 20261001
    // -----//  //----- //
    module @main { ...                          what it read
    // -----// canonicalize //----- //
    module @main { ...                          after that pass

A recording answers for one text and one list of passes, and for nothing else.
`scripts/mlir_record.py` makes them. Next room: `slides.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "recorded"
FIRST = "// recorded with "
MARK = re.compile(r"^// -----// (.*) //----- //\n", re.MULTILINE)


class Recording(NamedTuple):
    """The tool, what it was given, and (pass, text after it) for each state."""

    tool: str
    text: str
    states: tuple[tuple[str, str], ...]


def recorded(text: str, passes: Sequence[str]) -> Recording | None:
    """The recording of just this, if there is one."""
    for kept in _all():
        if kept.text == text and [name for name, _ in kept.states[1:]] == list(passes):
            return kept
    return None


@cache
def _all() -> list[Recording]:
    return [read(path.read_text()) for path in sorted(FOLDER.glob("*.mlir"))]


def written(kept: Recording) -> str:
    """A recording as text."""
    parts = [("given", kept.text), *kept.states]
    shown = "".join(f"// -----// {name} //----- //\n{text}" for name, text in parts)
    return f"{FIRST}{kept.tool}\n{shown}"


def read(text: str) -> Recording:
    """The reverse of `written`. ValueError if it is no recording."""
    head, *rest = MARK.split(text)
    if not head.startswith(FIRST) or rest[:1] != ["given"]:
        raise ValueError(f"a recording begins with `{FIRST}...` and what was given")
    states = tuple(zip(rest[2::2], rest[3::2], strict=True))
    return Recording(head.removeprefix(FIRST).strip(), rest[1], states)
