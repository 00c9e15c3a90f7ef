"""Answers of an earlier unit, in the compiler of this one.

    use_my("u02")               # what passed its checks, of the notebook of unit 2 beside this one
    use_my("passes.dce")        # this one, passed or not: a card says so

    Plugged in from u02_rewrites.ipynb: `passes.dce`, `passes.cse`. ...

An answer is its cell in that notebook as it was saved, with what it needs of the others, run anew
in this kernel. One that raises where the library would not is left out from then on, and a card
says so. Checks, and the grader, ask each answer without those of other notebooks: a notebook that
is handed in earns the same with this call and without it.

Next room: autograder/text/needed.py, what an answer needs from the other cells.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.check import overview
from autograder.check.alarm import alarm
from autograder.check.cards import Card, Note, show
from autograder.check.framework import Stop
from autograder.check.here import CALL
from autograder.check.keys import called, key_in
from autograder.check.plugs import borrowed, is_borrowed
from autograder.check.shown import error_text
from autograder.check.validating import RUN
from autograder.check.verdict import PASSED, headline
from autograder.notebook import check
from autograder.text.cells import Ways, answered, plain_python
from autograder.text.needed import needed, statements
from course_lib import exercises
from course_lib.exercises import MODULES, Slot, UnknownExercise, slot

MAX_BYTES, MAX_CODE = 20 << 20, 200_000  # of a file, and characters of its code cells together


@dataclass(frozen=True)
class Found:
    """An answer in a notebook: its cells from top to bottom, the last one its own."""

    file: str
    cells: tuple[tuple[int, str], ...]  # number in the notebook, from 1, and code


class NoAnswer(ValueError):
    """Why nothing can be plugged in, in words."""


def use_my(*names: str) -> Card | Note:
    """Plug in your own answers from another notebook of this folder, for as long as this kernel
    runs: those of a unit ("u02") or lab that pass its visible checks, or one by its name."""
    if RUN in os.environ:
        return Note("Nothing is plugged in from another notebook while this one is graded.")
    if not names:
        return Note('Which answers? use_my("u02") takes those of unit 2 that pass their checks.')
    plugged: dict[str, list[str]] = {}
    left: list[str] = []
    for name in names:
        try:
            _use(str(name), plugged, left)
        except (NoAnswer, UnknownExercise) as error:
            left.append(str(error))
    lines = [f"Plugged in from {file}: {', '.join(ours)}." for file, ours in plugged.items()]
    if not lines:
        return Note(" ".join(["Nothing is plugged in.", *left]))
    if not left:
        return Note(" ".join([*lines, "The library calls them; unplug() undoes it."]))
    return Card("Your answers", (*lines, *left), tone="open")


def _use(name: str, plugged: dict[str, list[str]], left: list[str]) -> None:
    """Plug in what `name` means; say in `plugged`, by file, what is, and in `left` what is not."""
    whole = key_in(name) == name
    entries = _of_the_compiler(name) if whole else [slot(name)]
    here = overview.key_of_this_notebook()
    if not entries:
        raise NoAnswer(f"No answer of {called(name)} is a function of the compiler.")
    if entries[0].key == here:
        raise NoAnswer(f"{name} is of this notebook, whose own cells plug it in.")
    path = _notebook_of(entries[0].key)
    codes = _codes(path)
    for entry in entries:
        if entry.plugged is not None and not is_borrowed(entry.name):
            left.append(f"`{entry.name}` was answered in this notebook, and stays.")
            continue
        try:
            words = _plug(entry, _found(entry.name, path.name, codes), asked=not whole)
        except NoAnswer as error:
            left.append(f"`{entry.name}`: {error}")
        else:
            plugged.setdefault(path.name, []).append(f"{entry.name}{words}")


def _of_the_compiler(key: str) -> list[Slot]:
    """The functions of the compiler among the exercises of a unit or lab."""
    return [entry for entry in overview.exercises_in(key) if entry.name in MODULES]


def _plug(entry: Slot, found: Found, asked: bool) -> str:
    """Run the cells, check the answer, plug it in. Returns a word on one that has not passed, which
    only somebody who `asked` for it gets. NoAnswer says why it is not plugged in."""
    entry.plug(None)
    function = _run(entry, found)
    with exercises.plugged(entry.name, function):
        verdict = check(entry.name)
    if verdict.kind != PASSED and not asked:
        raise NoAnswer(f"{headline(verdict)}, so the library's own stays.")
    entry.plug(_with_a_net(entry, function, found.file))
    overview.remember(entry, verdict)
    return "" if verdict.kind == PASSED else f" ({headline(verdict)})"


def _run(entry: Slot, found: Found) -> Callable[..., Any]:
    """The function that the answer's cell plugs in. NoAnswer if there is none."""
    module = ModuleType("use_my")
    number = 0
    try:
        with (
            exercises.using({}),
            contextlib.redirect_stdout(io.StringIO()),
            alarm(CALL, f"it was stopped after {CALL} seconds"),
        ):
            for number, code in found.cells:
                file = f"<cell {number} of {found.file}>"
                linecache.cache[file] = (len(code), None, code.splitlines(True), file)
                exec(compile(code, file, "exec"), module.__dict__)
            function = exercises.plugs_now().get(entry.name)
    except (Exception, SystemExit, Stop) as error:
        raise NoAnswer(f"cell {number} of {found.file} stopped: {error_text(error)}.") from None
    if function is None:
        raise NoAnswer("its cell holds no answer yet.")
    return function


def _with_a_net(entry: Slot, function: Callable[..., Any], file: str) -> Callable[..., Any]:
    """The function, until it raises where the library's own does not: from then on that one."""
    fallen = False

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal fallen
        if not fallen:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                try:
                    result = _ours(entry, args, kwargs)
                except Exception:  # both refuse, or the library has no body: say what the own says
                    raise error from None
                fallen = True
                if entry.plugged is call:
                    entry.plug(None)
                show(_fell(entry, error, file))
                return result
        return _ours(entry, args, kwargs)

    return borrowed(call, file)


def _ours(entry: Slot, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the library's own function returns."""
    with exercises.plugged(entry.name, None):
        return entry.reference(*args, **kwargs)


def _fell(entry: Slot, error: Exception, file: str) -> Card:
    words = f"It raised {error_text(error)}. The library's own is used from here on."
    more = f"Mend it in {file}, save that notebook, and run the cell with `use_my` again."
    return Card(f"Your `{entry.name}` was taken out", (words, more), tone="failed")


def _notebook_of(key: str) -> Path:
    """The learner's own file, not a newer version beside it. NoAnswer if there is none."""
    files = [p for p in Path().glob("u*.ipynb") if key_in(p.name) == key and p.is_file()]
    own = sorted(files, key=lambda path: (path.stem.count("."), path.name))
    if not own:
        raise NoAnswer(f"No notebook of {called(key)} is in this folder.")
    return own[0]


def _codes(path: Path) -> list[str]:
    """The code of each cell, "" for one of text. NoAnswer for what is no notebook."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES >> 20} MB")
        cells = json.loads(path.read_text(encoding="utf-8-sig"))["cells"]
        sources = ["".join(c["source"]) if c["cell_type"] == "code" else "" for c in cells]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise NoAnswer(f"{path.name} cannot be read as a notebook: {error_text(error)}.") from None
    if sum(map(len, sources)) > MAX_CODE:
        raise NoAnswer(f"{path.name} has more than {MAX_CODE:,} characters of code.")
    return [plain_python(source) for source in sources]


def _found(name: str, file: str, codes: list[str]) -> Found:
    """The cell that answers the exercise (the last one, where several do), with what it needs."""
    ways = Ways.of(codes)
    answers = {k: names for k, code in enumerate(codes, 1) if (names := answered(code, ways))}
    own = max((number for number, names in answers.items() if name in names), default=0)
    if not own:
        raise NoAnswer(f"no cell of {file} answers it.")
    others = [s for k, code in enumerate(codes, 1) if k not in answers for s in statements(code, k)]
    helpers = needed([(codes[own - 1], len(codes) + 1)], others)
    cells = sorted([*((s.number, s.source) for s in helpers), (own, codes[own - 1])])
    return Found(file, tuple(cells))
