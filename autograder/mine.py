"""Answers of an earlier unit, in the compiler of this one.

    use_my("u02")               # what passed its checks, of the notebook of unit 2 beside this one
    use_my("passes.dce")        # this one, passed or not: a card says so
    use_my()                    # what passed its checks, of all notebooks beside this one
    use_my(False)               # none of them any more

    Plugged in from u02_rewrites.ipynb: passes.dce, passes.cse. ...

An answer is its cell in that notebook as it was saved, with what it needs of the others, run anew
in this kernel. One that raises where the library would not is left out from then on, and a card
says so. Checks, and the grader, ask each answer without those of other notebooks: a notebook that
is handed in earns the same with this call and without it.

Next room: autograder/check/saved.py, an answer in a saved notebook; check/elsewhere.py.
"""

from __future__ import annotations

import contextlib
import functools
import io
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from autograder.check import elsewhere, overview
from autograder.check.alarm import alarm
from autograder.check.cards import Card, Note, in_notebook, show
from autograder.check.framework import Stop
from autograder.check.here import CALL
from autograder.check.keys import called, key_in
from autograder.check.plugs import borrowed, fall, has_fallen, is_borrowed
from autograder.check.saved import (
    Found,
    NoAnswer,
    NotYet,
    codes,
    found,
    notebook_of,
    notebooks_here,
)
from autograder.check.shown import error_text
from autograder.check.validating import RUN
from autograder.check.verdict import PASSED, headline
from autograder.check.working import Working
from autograder.notebook import verdict_on
from course_lib import exercises
from course_lib.exercises import MODULES, Slot, UnknownExercise, slot

CALLS = "The library calls them; use_my(False) takes them out."
OFF = (False, "off")


@dataclass
class Outcome:
    """What became of a call: names by file that are plugged in; what is not, in sentences."""

    plugged: dict[str, list[str]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)  # names that nobody has answered yet

    def as_card(self) -> Card | Note:
        lines = [f"Plugged in from {file}: {', '.join(n)}." for file, n in self.plugged.items()]
        head = " ".join([*lines, CALLS]) if lines else "Nothing is plugged in."
        if self.empty:
            self.left.append(f"Not answered yet: {', '.join(self.empty)}.")
        if len(self.left) <= 1:
            return Note(" ".join([head, *self.left]))
        return Card("Your answers", (head, *dict.fromkeys(self.left)), tone="open")


def use_my(*names: str | bool) -> None:
    """Plug in your own answers from other notebooks of this folder, for as long as this kernel
    runs, and say which: those of a unit ("u02") or lab that pass its visible checks, one by its
    name, or without a name all that pass. use_my(False) takes them out again."""
    show(borrow(*names))


def borrow(*names: str | bool) -> Card | Note:
    """What `use_my` does, and says."""
    if RUN in os.environ:
        return Note("Nothing is plugged in from another notebook while this one is graded.")
    if any(name in OFF for name in names):
        return _take_out()
    here, outcome = overview.key_of_this_notebook(), Outcome()
    wanted = [str(name) for name in names] or [
        key for key in notebooks_here() if key != here and _of_the_compiler(key)
    ]
    try:
        with Working(len(wanted)) as working:
            for working.number, name in enumerate(wanted, 1):
                _use(name, here, outcome, working)
    except KeyboardInterrupt:
        outcome.left.append("You stopped it; what comes after was not looked at.")
    if not names:
        outcome.empty.clear()  # most of a course, for most of the time
    if outcome.plugged and in_notebook():
        from IPython.core.getipython import get_ipython  # a terminal need not have it

        elsewhere.watch(get_ipython())
    return outcome.as_card()


def _take_out() -> Note:
    names = elsewhere.take_out()
    if not names:
        return Note("Nothing of another notebook is plugged in.")
    return Note(f"Taken out: {', '.join(names)}. The library's own are used again.")


def _use(name: str, here: str | None, outcome: Outcome, working: Working) -> None:
    """Plug in what `name` means, and note in `outcome` what became of each answer."""
    whole = key_in(name) == name
    try:
        entries = _of_the_compiler(name) if whole else [slot(name)]
        if not entries:
            raise NoAnswer(f"No answer of {called(name)} is a function of the compiler.")
        if entries[0].key == here:
            raise NoAnswer(f"{name} is of this notebook, whose own cells plug it in.")
        path = notebook_of(entries[0].key)
        cells = codes(path)
    except NoAnswer as error:
        outcome.left.append(str(error))
        return
    except UnknownExercise as error:
        words = str(error).partition(" Known: ")[0]  # without the list of all
        outcome.left.append(f"{words[:1].upper()}{words[1:]}")
        return
    for entry in entries:
        if entry.plugged is not None and not is_borrowed(entry.name):
            outcome.left.append(f"`{entry.name}` was answered in this notebook, and stays.")
            continue
        try:
            answer = found(entry.name, path.name, cells)
            working.say(f"checking {entry.name} of {path.name}")
            words = _plug(entry, answer, asked=not whole)
        except NoAnswer as error:
            if whole and isinstance(error, NotYet):
                outcome.empty.append(entry.name)
            else:
                outcome.left.append(f"`{entry.name}`: {error}")
        else:
            outcome.plugged.setdefault(path.name, []).append(f"{entry.name}{words}")


def _of_the_compiler(key: str) -> list[Slot]:
    """The functions of the compiler among the exercises of a unit or lab."""
    return [entry for entry in overview.exercises_in(key) if entry.name in MODULES]


def _plug(entry: Slot, answer: Found, asked: bool) -> str:
    """Run the cells, check the answer, plug it in. Returns a word on one that has not passed, which
    only somebody who `asked` for it gets. NoAnswer says why it is not plugged in."""
    entry.plug(None)
    function = _run(entry, answer)
    with exercises.plugged(entry.name, function):
        verdict = verdict_on(entry.name)
    if verdict.kind != PASSED and not asked:
        raise NoAnswer(f"{headline(verdict)}, so the library's own stays.")
    entry.plug(_with_a_net(entry, function, answer.file))
    elsewhere.took(entry.name, answer)
    overview.remember(entry, verdict)
    return "" if verdict.kind == PASSED else f" ({headline(verdict)})"


def _run(entry: Slot, answer: Found) -> Callable[..., Any]:
    """The function that the answer's cell plugs in. NoAnswer if there is none."""
    module = ModuleType("use_my")
    number = 0
    try:
        with (
            exercises.using({}),
            contextlib.redirect_stdout(io.StringIO()),
            alarm(CALL, f"it was stopped after {CALL} seconds"),
        ):
            for number, code in answer.cells:
                file = f"<cell {number} of {answer.file}>"
                linecache.cache[file] = (len(code), None, code.splitlines(True), file)
                exec(compile(code, file, "exec"), module.__dict__)
            function = exercises.plugs_now().get(entry.name)
    except (Exception, SystemExit, Stop) as error:
        raise NoAnswer(f"cell {number} of {answer.file} stopped: {error_text(error)}.") from None
    if function is None:
        raise NotYet("its cell holds no answer yet.")
    return function


def _with_a_net(entry: Slot, function: Callable[..., Any], file: str) -> Callable[..., Any]:
    """The function, until it raises where the library's own does not: from then on that one."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not has_fallen(call):
            try:
                return function(*args, **kwargs)
            except Exception as error:
                try:
                    result = _ours(entry, args, kwargs)
                except Exception:  # both refuse, or the library has no body: say what the own says
                    raise error from None
                fall(call)
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
