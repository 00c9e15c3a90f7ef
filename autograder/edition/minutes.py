"""How long a student needs for a unit: an estimate, since nobody has been timed.

    estimate(source.cells())         a Section for each heading: what is read there, what is asked
    core(sections)                   117.3, the minutes above the heading "Further"

Reading takes a minute for 200 words, and its time for each line of code and each picture, table or
printed text. An exercise takes a while to begin with, which depends on its kind, then what its text
and the length of our own answer say: four times the lines take twice the time.

The constants were fitted to what four outsiders estimated of the first edition, unit by unit
(125 to 180 minutes; of four units also exercise by exercise), so that each unit's sum came within
15 % of theirs: tests/course/test_minutes.py has their figures and what was counted then.

Next room: facts.py, which puts the minutes on the teacher's page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from typing import Any

from autograder.edition.parsed import FURTHER, pointer
from autograder.edition.solutions import solution_body
from course_lib.exercises import Slot, slot

WORD = 1 / 200  # minutes to read one
LINE = 0.24  # ... of code that is not folded
OUTPUT = 0.54  # ... that a cell shows: a picture, a table or printed text
START = {  # minutes for an exercise with nothing in it
    "implement": 13.2, "number": 11.9, "evidence": 11.0, "inverse": 8.6, "budget": 15.3,
    "explain": 11.2,
}  # fmt: skip
TEXT = 3.4 / 200  # minutes to understand a word of a task
ANSWER = 2.0  # minutes for an answer of one line; four lines take twice that

BEGINNING = "The question"  # what stands above the first heading
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
WORDS = re.compile(r"\w[^\s|]*")
QUIET = ("check", "hint", "predict", "compare", "unplug", "warnings")  # show a line, or nothing


@dataclass(frozen=True)
class Task:
    """An exercise as the estimate sees it."""

    name: str
    kind: str
    words: int  # of its text
    lines: int  # of our answer; none of an explanation

    @property
    def minutes(self) -> float:
        return START[self.kind] + TEXT * self.words + ANSWER * sqrt(self.lines)


@dataclass
class Section:
    """What stands below one heading."""

    title: str
    further: bool = False
    words: int = 0
    lines: int = 0
    outputs: int = 0
    tasks: list[Task] = field(default_factory=list)

    @property
    def reading(self) -> float:
        return WORD * self.words + LINE * self.lines + OUTPUT * self.outputs

    @property
    def answering(self) -> float:
        return sum(task.minutes for task in self.tasks)

    @property
    def minutes(self) -> float:
        return self.reading + self.answering


def estimate(cells: Iterable[Any]) -> list[Section]:
    """The sections of a notebook source, in order."""
    sections = [Section(BEGINNING)]
    for cell in cells:
        if cell.cell_type == "markdown":
            for part in _parts(cell.source):
                if heading := HEADING.match(part):
                    further = sections[-1].further or bool(FURTHER.match(part))
                    sections.append(Section(heading[1], further))
                _read(part, sections[-1])
        elif name := pointer(cell):
            sections[-1].tasks.append(task(slot(name)))
        else:
            _run(cell, sections[-1])
    return sections


def task(entry: Slot) -> Task:
    """An exercise, with what its time depends on."""
    answer = [] if entry.kind == "explain" else solution_body(entry.reference)
    return Task(entry.name, entry.kind, _words(entry.doc), _code_lines(answer))


def core(sections: Iterable[Section]) -> float:
    """The minutes above the heading "Further"."""
    return sum(section.minutes for section in sections if not section.further)


def further(sections: Iterable[Section]) -> float:
    """The minutes below it."""
    return sum(section.minutes for section in sections if section.further)


def about(minutes: float) -> int:
    """To the next five: more would say that somebody had measured."""
    return 5 * round(minutes / 5)


def _parts(text: str) -> list[str]:
    """A Markdown cell, cut in front of each heading."""
    starts = [0, *(match.start() for match in HEADING.finditer(text)), len(text)]
    return [text[a:b] for a, b in pairwise(starts) if text[a:b].strip()]


def _read(text: str, section: Section) -> None:
    for fence in FENCE.findall(text):
        section.lines += _code_lines(fence.split("\n")[1:-1])
    section.words += _words(FENCE.sub("", text))


def _run(cell: Any, section: Section) -> None:
    """A code cell: its lines, unless they are folded, and what it shows."""
    lines = cell.source.split("\n")
    if "hide-input" not in cell.metadata.get("tags", ()):
        section.lines += _code_lines(lines)
    tree = ast.parse("\n".join(line for line in lines if not line.startswith("%")))
    said = [text for call in _calls(tree, "callout") for text in _texts(call)]
    section.words += sum(map(_words, said))
    section.outputs += not said and _shows(tree)


def _shows(tree: ast.Module) -> bool:
    if next(_calls(tree, "print"), None):
        return True
    last = tree.body[-1] if tree.body else None
    return isinstance(last, ast.Expr) and not any(
        isinstance(part, ast.Name) and part.id in QUIET for part in ast.walk(last.value)
    )


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name)


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _words(text: str) -> int:
    return len(WORDS.findall(text))


def _code_lines(lines: Iterable[str]) -> int:
    """Those that are neither empty nor a comment, nor a line for IPython."""
    return sum(bool(line.strip()) and line.lstrip()[0] not in "#%" for line in lines)
