"""What a teacher's page says of a unit's exercises, taken from the unit itself.

    exercise_table(source)

    | exercise   | kind      | points | visible checks | hidden | wrong answers | right ones |
    | passes.dce | implement |      2 |             10 |      3 |            12 |          5 |

docs/units/uNN.md is written by hand and holds no such number: what can be counted is counted here,
by `python -m autograder facts --unit 2` and when the website is built.

Next room: deliver.py, which writes the notebooks of an edition.
"""

from __future__ import annotations

from pathlib import Path

from autograder.check.exemplars import alternatives_of, mutants_of
from autograder.check.framework import checks_of
from autograder.edition.sources import Source
from course_lib.exercises import Slot, slot

HEAD = ("exercise", "kind", "points", "visible checks", "hidden", "wrong answers", "right ones")
HEADING = "## Exercises"


def exercise_table(source: Source) -> str:
    """One row for each exercise, as Markdown, and what the unit is worth."""
    rows = [_row(slot(name)) for name in source.exercises()]
    lines = [HEAD, ("---", "---", *["--:"] * (len(HEAD) - 2)), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\nIn all {source.worth()}.\n"


def page_of(source: Source, folder: Path) -> str:
    """The teacher's page of the unit, with the table below its heading."""
    text = (folder / f"u{source.unit:02d}.md").read_text(encoding="utf-8")
    return text.replace(f"{HEADING}\n", f"{HEADING}\n\n{exercise_table(source)}", 1)


def _row(entry: Slot) -> tuple[str, ...]:
    points = f"{entry.points:g}{' bonus' if entry.further else ''}"
    row = (f"`{entry.name}`", entry.kind, points)
    if entry.kind == "explain":
        return (*row, "", "", "", "")
    visible, every = checks_of(entry.name), checks_of(entry.name, with_hidden=True)
    counts = len(visible), len(every) - len(visible)
    answers = len(mutants_of(entry.name)), len(alternatives_of(entry.name))
    return (*row, *map(str, (*counts, *answers)))
