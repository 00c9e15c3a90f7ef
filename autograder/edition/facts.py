"""What a teacher's page says of a unit's exercises, taken from the unit itself.

    exercise_table(source)

    | exercise   | kind      | points | visible checks | hidden | wrong answers | right ones |
    | passes.dce | implement |      2 |             10 |      3 |            12 |          5 |

    minutes_table(source)

    | section          | reading | exercises     |
    | 2 Dead operations |      6 | `passes.dce` 20 |

docs/units/uNN.md is written by hand and holds no such number: what can be counted is counted here,
by `python -m autograder facts --unit 2` and when the website is built.

Next room: deliver.py, which writes the notebooks of an edition.
"""

from __future__ import annotations

from pathlib import Path

from autograder.check.exemplars import alternatives_of, mutants_of
from autograder.check.framework import checks_of
from autograder.edition.minutes import Section, about, core, estimate, further
from autograder.edition.sources import Source
from course_lib.exercises import Slot, slot

HEAD = ("exercise", "kind", "points", "visible checks", "hidden", "wrong answers", "right ones")
ESTIMATE = "The minutes are an estimate from what is read and asked; nobody has been timed."
MINUTES, EXERCISES = "## Minutes", "## Exercises"


def exercise_table(source: Source) -> str:
    """One row for each exercise, as Markdown, and what the unit is worth."""
    rows = [_row(slot(name)) for name in source.exercises()]
    lines = [HEAD, ("---", "---", *["--:"] * (len(HEAD) - 2)), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\nIn all {source.worth()}.\n"


def minutes_table(source: Source) -> str:
    """One row for each section of the core and one for Further, as Markdown, and the sums."""
    sections = estimate(source.cells())
    rows = [_times(section) for section in sections if not section.further]
    below = [section for section in sections if section.further]
    if below:
        tasks = [task for section in below for task in section.tasks]
        rows.append(_times(Section("Further", True, tasks=tasks), sum(s.reading for s in below)))
    lines = ["| section | reading | exercises |", "|---|--:|---|", *rows]
    words = f"About {about(core(sections))} minutes for the core"
    words += f", and {about(further(sections))} more for *Further*" if below else ""
    return "\n".join(lines) + f"\n\n{words}. {ESTIMATE}\n"


def minutes_row(source: Source) -> str:
    """The unit's core and Further in minutes, and its name."""
    sections = estimate(source.cells())
    return f"{core(sections):4.0f}  {further(sections):7.0f}  {source.name}"


def page_of(source: Source, folder: Path) -> str:
    """The teacher's page of the unit or lab, with the tables below their headings."""
    text = (folder / f"{source.key}.md").read_text(encoding="utf-8")
    for heading, table in ((MINUTES, minutes_table(source)), (EXERCISES, exercise_table(source))):
        text = text.replace(f"{heading}\n", f"{heading}\n\n{table}", 1)
    return text


def _times(section: Section, reading: float | None = None) -> str:
    asked = ", ".join(f"`{task.name}` {task.minutes:.0f}" for task in section.tasks)
    return f"| {section.title} | {section.reading if reading is None else reading:.0f} | {asked} |"


def _row(entry: Slot) -> tuple[str, ...]:
    points = f"{entry.points:g}{' bonus' if entry.further else ''}"
    row = (f"`{entry.name}`", entry.kind, points)
    if entry.kind == "explain":
        return (*row, "", "", "", "")
    visible, every = checks_of(entry.name), checks_of(entry.name, with_hidden=True)
    counts = len(visible), len(every) - len(visible)
    answers = len(mutants_of(entry.name)), len(alternatives_of(entry.name))
    return (*row, *map(str, (*counts, *answers)))
