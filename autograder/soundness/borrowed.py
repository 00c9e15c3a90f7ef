"""Which functions of a student's library earn points as they are, called as an answer?

    borrowed(slot("machine.linear_scan"))
    -> (Borrowed("machine.linear_scan", "course_lib.machine.linear_scan._scan", (0, 1), 4.0),)

Every function is tried that the students of the unit have, of the library and of all units: with
the arguments of the exercise, or some of them, in each order that its own annotations admit. It has
to take the first examples of the checks and to return the kind of thing that our answer returns;
only then is it judged, hidden checks too. While it runs, the exercises of the unit and later ones
have their stand-ins, as in a student's copy. It runs in a process that may crash or hang, and what
it asks of the machine beyond reading is refused there: to write, move or remove a file, to start or
end a process, to open a connection.

Where points are earned by design, the unit says why (`in_the_library`, in its mutants).

Next room: apart.py, those processes; autograder/edition/leaks.py, which compares texts alone.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import importlib
import inspect
import io
import itertools
import os
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.check.alarm import alarm
from autograder.check.exemplars import in_the_library_of
from autograder.check.framework import Stop
from autograder.check.judging import prepare
from autograder.edition.contents import COURSE, library
from autograder.edition.sources import sources
from autograder.process.child import limit
from autograder.soundness.apart import apart
from autograder.soundness.verdicts import verdict_of
from course_lib import exercises
from course_lib.exercises import Slot, slot

ROOMS = ("course_lib.", "lessons.", "autograder.units.")
# What these do to their process would change the next trial: plugs, files that are kept, limits.
APART = ("course_lib.exercises", "course_lib.keep", "course_lib.measure.apart")
REFUSED = (  # audit events of Python, by how they begin
    "os.chmod", "os.chown", "os.exec", "os.fork", "os.kill", "os.link",
    "os.lockf", "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove", "os.rename", "os.rmdir",
    "os.setxattr", "os.spawn", "os.symlink", "os.system", "os.truncate", "os.unsetenv", "os.utime",
    "pty.spawn", "resource.", "shutil.", "socket.", "sqlite3.", "subprocess.", "tempfile.",
    "urllib.", "webbrowser.",
)  # fmt: skip
EXAMPLES = 3  # calls of our answer that a function has to take before it is judged
ORDERS = 24  # of the arguments, at most, for one function
SECONDS, JUDGED = 0.5, 60.0  # of processor time, for such a call and for a whole verdict
CHUNK, PATIENCE = 200, 600.0
_on_trial: ContextVar[bool] = ContextVar("on_trial", default=False)


@dataclass(frozen=True)
class Borrowed:
    """A function that earns points as an answer, given these arguments of the exercise."""

    exercise: str
    function: str
    order: tuple[int, ...]
    earned: float

    def __str__(self) -> str:
        names = list(slot(self.exercise).signature.parameters)
        given = ", ".join(names[at] for at in self.order)
        return f"{self.function}({given}) earns {self.earned:g} points, and students have it"


def borrowed_problems(entry: Slot, jobs: int | None = None) -> list[str]:
    """What is to be done about an exercise, in words: a leak is mended, or the unit says why it is
    none; an explanation that is about no such function any more goes."""
    earning, known = borrowed(entry, jobs), in_the_library_of(entry.name)
    meant = {lent.function for lent in known}
    problems = [str(lent) for lent in earning if lent.function not in meant]
    stale = meant - {lent.function for lent in earning}
    return problems + [f"{name} earns no points any more: no need to explain it" for name in stale]


@functools.cache
def borrowed(entry: Slot, jobs: int | None = None) -> tuple[Borrowed, ...]:
    """All of them. A function that ends its process is no answer."""
    for source in sources(COURSE / "notebooks"):
        for name in source.exercises():
            slot(name)
    prepare(entry.name)  # where files may be written
    earning: list[Borrowed] = []
    names = [name for name in _callable(entry.unit) if _orders(entry, name)]
    queue = [names[at : at + CHUNK] for at in range(0, len(names), CHUNK)]
    while queue:
        tasks = [(entry.name, part) for part in queue]
        done = list(apart(_tried, tasks, jobs or os.cpu_count() or 1, PATIENCE))
        earning += [one for some in done for one in some or ()]
        lost = [part for part, some in zip(queue, done, strict=True) if some is None]
        queue = [half for part in lost if len(part) > 1 for half in _halves(part)]
    return tuple(earning)


def _halves(part: list[str]) -> tuple[list[str], list[str]]:
    """One of them ended the process: the others are tried again."""
    middle = len(part) // 2
    return part[:middle], part[middle:]


# ── what may be called ──


@functools.cache
def _callable(unit: int) -> tuple[str, ...]:
    """The functions of that unit's library, but those that are its exercises or later ones."""
    callable_names = []
    exercises.load_all()
    for path, content in library(unit).items():
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if not path.endswith(".py") or not module.startswith(ROOMS) or module in APART:
            continue
        shorn = module.startswith("autograder.")  # of a unit's own answers none ever ships
        asked = {entry.reference.__name__ for entry in exercises.slots()
                 if entry.reference.__module__ == module
                 and (shorn or entry.unit >= unit)}  # fmt: skip
        body = ast.parse(content).body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
        callable_names += [f"{module}.{name}" for name in names if name not in asked]
    return tuple(name for name in callable_names if _function(name) is not None)


@functools.cache
def _function(name: str) -> Callable[..., Any] | None:
    """The function of that name; None where its module cannot be imported here."""
    module, _, last = name.rpartition(".")
    try:
        function = getattr(importlib.import_module(module), last, None)
    except (ImportError, NotImplementedError):
        return None
    # One that keeps its results (`functools.cache`) is no plain function.
    return function if callable(function) else None


@functools.cache
def _hints(name: str) -> dict[str, Any]:
    function = _function(name)
    with contextlib.suppress(Exception):  # a name that only a type checker imports
        return typing.get_type_hints(function)
    return {}


# ── what it is called with ──


@functools.cache
def _examples(entry: Slot) -> list[tuple[tuple[Any, ...], str]]:
    """The arguments of the first calls that the checks make, and the kind of what we return."""
    calls: list[tuple[tuple[Any, ...], str]] = []

    def watched(*args: Any, **kwargs: Any) -> Any:
        result = entry.reference(*args, **kwargs)
        calls.append((_values(entry, args, kwargs), _kind(result)))
        if len(calls) == EXAMPLES:
            raise Stop
        return result

    verdict_of(entry, watched)
    return calls


def _values(entry: Slot, args: Any, kwargs: Any) -> tuple[Any, ...]:
    bound = entry.signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def _orders(entry: Slot, name: str) -> list[tuple[int, ...]]:
    """Which arguments of the exercise the function may get, in which order, by its annotations."""
    examples = _examples(entry)
    function = _function(name)
    if not examples or function is None:
        return []
    kinds, wanted = _kinds(_hints(name).get("return", Any)), {kind for _, kind in examples}
    if kinds is not None and not kinds & wanted:
        return []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = list(inspect.signature(function).parameters.values())
    takes = [p for p in parameters if p.kind in plain]
    needs = sum(p.default is p.empty for p in takes)
    if any(p.default is p.empty for p in parameters if p.kind is p.KEYWORD_ONLY):
        return []
    values = examples[0][0]
    any_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    count = len(values) if any_more else min(len(values), len(takes))
    if needs > count or (values and not count):
        return []
    hints = [_hints(name).get(p.name, Any) for p in takes] + [Any] * (count - len(takes))
    admitted = (
        order
        for order in itertools.permutations(range(len(values)), count)
        if all(_admits(hint, values[at]) for hint, at in zip(hints, order, strict=False))
    )
    return list(itertools.islice(admitted, ORDERS))


def _admits(hint: Any, value: Any) -> bool:
    """May a parameter with this annotation get the value? In doubt, it may."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return any(_admits(one, value) for one in typing.get_args(hint))
    of = typing.get_origin(hint) or hint
    if not isinstance(of, type) or of is Any:
        return True
    of = Sequence if of in (list, tuple) else (int, float) if of is float else of
    try:
        return isinstance(value, of)
    except TypeError:  # a protocol
        return True


def _kinds(hint: Any) -> set[str] | None:
    """What a function with this annotation may return; None for anything."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        parts = [_kinds(one) for one in typing.get_args(hint)]
        return None if None in parts else set().union(*filter(None, parts))
    of = typing.get_origin(hint) or hint
    return {_kind_of(of)} if isinstance(of, type) and of is not Any else None


def _kind(value: Any) -> str:
    return _kind_of(type(value))


def _kind_of(of: type) -> str:
    """Kinds of things that checks tell apart: any number is one, and so is any sequence."""
    if of in (type(None), str, object):
        return of.__name__
    if issubclass(of, (int, float, np.number, np.bool_)):
        return "number"
    if issubclass(of, Mapping):
        return "mapping"
    if issubclass(of, (Sequence, set, frozenset, np.ndarray, Iterator)) or of is typing.Iterable:
        return "sequence"
    return of.__name__


# ── trying it ──


def _tried(task: tuple[str, list[str]]) -> list[Borrowed]:
    """In a process of its own: which of these functions earn something."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        limit({"RLIMIT_FSIZE": 0}, hard=False)  # a check may start a process that writes
    _refuse()
    os.environ["COURSE_LIB_CACHE"] = "off"  # machine code is no file here: it could not be kept
    exercise, names = task
    entry, earning = slot(exercise), []
    ours = verdict_of(entry, entry.reference, shrink=False)
    if ours.earned != entry.points:  # then it would say nothing that others earn none
        raise RuntimeError(f"our own answer does not earn its points in this process: {ours!r}")
    for name in names:
        # too long in one order: it is not tried in others; what it plugs in is taken out again
        with exercises.using({}), contextlib.suppress(Stop):
            for order in _orders(entry, name):
                if earned := _earned(entry, name, order):
                    earning.append(Borrowed(exercise, name, order, earned))
                    break
    return earning


def _earned(entry: Slot, name: str, order: tuple[int, ...]) -> float:
    function = _function(name)
    assert function is not None
    others = _stand_ins(entry)

    def answer(*args: Any, **kwargs: Any) -> Any:
        values = _values(entry, args, kwargs)
        with exercises.using({**others, **exercises.plugs_now()}), _trial():
            return function(*(values[at] for at in order))

    quiet = io.StringIO()
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            for values, kind in _examples(entry):
                given = [copy.copy(values[at]) for at in order]
                with exercises.using({}), alarm(SECONDS, "an example"), _trial():
                    if _kind(function(*given)) != kind:
                        return 0.0
            with alarm(JUDGED, "a verdict"):
                return verdict_of(entry, answer, shrink=False).earned or 0.0
    except (Exception, SystemExit):
        return 0.0


@contextlib.contextmanager
def _trial() -> Iterator[None]:
    """A block that may ask the machine for nothing that would outlast it."""
    before = _on_trial.set(True)
    try:
        yield
    finally:
        _on_trial.reset(before)


@functools.cache
def _refuse() -> None:
    """From now on in this process: PermissionError for whatever a trial may not ask for. A hook
    cannot be taken away again, so there is one, once."""
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if not _on_trial.get():
            return
        if event.startswith(REFUSED) or (event == "open" and args[2] & writing):
            raise PermissionError(f"{event}: refused to a function that is tried as an answer")

    sys.addaudithook(watch)


@functools.cache
def _stand_ins(entry: Slot) -> dict[str, Callable[..., Any]]:
    """What a student's copy has in the place of the other exercises of the unit and later ones."""
    exercises.load_all()
    later = (one for one in exercises.slots() if one.unit >= entry.unit and one is not entry)
    return {one.name: one.baseline or _unanswered(one.name) for one in later}


def _unanswered(name: str) -> Callable[..., Any]:
    def raises(*args: Any, **kwargs: Any) -> Any:
        raise exercises.NotAnswered(name)

    return raises
