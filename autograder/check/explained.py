"""An explanation, for someone who learns alone: what earns points, and three graded answers.

    check("u02.why_order")     # nothing written yet: says where to write, and shows nothing
                               # written and saved: the text beside the rubric and the samples

A kernel does not see the notebook's texts, but its file lies where the kernel runs, in JupyterLab,
in VS Code and in a browser alike. So the text is read from there, and has to be saved first. It
stays in its own cell: the same notebook can be handed in. The library of a class has no rubrics;
there a person reads the text.

Next room: rubrics.py, what is shown.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.check.cards import STYLE, framed, inline
from autograder.check.rubrics import TEXT_STUB, Rubric
from course_lib.exercises import NotAnswered, Slot

WRITE_FIRST = (
    "Write your explanation into the text cell below the task, save the notebook (Ctrl+S), and run "
    "this cell again. It then shows what earns points, and three graded answers."
)
NO_FILE = "Your text is read from the saved notebook, but no notebook in {} has this exercise."
SAVED = "This is your text as you last saved it. If you change it, save and run this cell again."
STYLE_OF_TEXT = "white-space:pre-wrap;border-left:2px solid;padding-left:.8em;margin:.2em 0"


@dataclass(frozen=True)
class Reading:
    """What was written, and what it may be compared with."""

    exercise: str
    points: float
    written: str
    rubric: Rubric = field(repr=False)
    problem: str = ""

    @property
    def worth(self) -> str:
        return f"up to {_points(self.points)}"

    @property
    def title(self) -> str:
        return "compare it with three answers" if self.written else "nothing written yet"

    def sections(self) -> list[tuple[str, str]]:
        """(heading, text). Nothing of the rubric before there is a text."""
        if not self.written:
            return [("", f"{self.problem} {WRITE_FIRST}".strip())]
        parts = [("You wrote", self.written), ("What earns points", self.rubric.criteria)]
        for sample in self.rubric.samples:
            parts.append((f"An answer that gets {_points(sample.points)}", sample.text))
        return [*parts, ("", SAVED)]

    def __repr__(self) -> str:
        lines = [f"{self.exercise}: {self.title} ({self.worth})"]
        for heading, text in self.sections():
            lines += [f"  {heading}"] if heading else []
            lines.append("    " + text.replace("\n", "\n    "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = []
        for heading, text in self.sections():
            body += [f'<p class="part">{html.escape(heading)}</p>'] if heading else []
            style = f' style="{STYLE_OF_TEXT}"' if heading == "You wrote" else ""
            body.append(f"<p{style}>{inline(text)}</p>")
        title = f"<code>{html.escape(self.exercise)}</code>: {self.title}"
        return framed("open", f"{self.exercise}: {self.title}", title, body, self.worth, STYLE)


def explained(entry: Slot) -> Reading | None:
    """The reading of an explanation; None where the library has no rubric, as in a class."""
    try:
        rubric = entry.reference()
    except NotAnswered:
        return None
    found = [text for path in _notebooks() for text in texts(path, entry.name)]
    written = next((text for text in found if text not in ("", TEXT_STUB)), "")
    problem = "" if found else NO_FILE.format(Path.cwd())
    return Reading(entry.name, entry.points, written, rubric, problem)


def _notebooks() -> list[Path]:
    """Those beside which the kernel runs; what was saved last comes first."""
    return sorted(Path().glob("*.ipynb"), key=lambda path: path.stat().st_mtime, reverse=True)


def texts(path: Path, name: str) -> Iterator[str]:
    """What stands in the cell of this explanation, known by its id or by the heading above it."""
    wanted, heading = name.replace(".", "-"), f"#### Exercise `{name}`"
    above = ""
    for cell in _cells(path):
        source = cell.get("source", "")
        text = source if isinstance(source, str) else "".join(map(str, source))
        marks = (cell.get("metadata") or {}).get("nbgrader") or {}
        is_it = wanted in (cell.get("id"), marks.get("grade_id")) or above.startswith(heading)
        if is_it and cell.get("cell_type") == "markdown":
            yield text.strip()
        above = text


def _cells(path: Path) -> list[dict[str, Any]]:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _points(count: float) -> str:
    return f"{count:g} point" if count == 1 else f"{count:g} points"
