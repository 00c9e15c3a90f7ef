"""The slots into which students plug their own functions.

An exercise of the course is a whole function of this library. The decorator keeps the function
in a *slot* and returns a thin call-through, so the compiler runs whatever is plugged in:

    @exercise("passes.cse", unit=2, points=3)                  # in course_lib/passes/clean/cse.py
    def cse(graph: Graph) -> Graph: ...

    @implements("passes.cse")                                  # in the student's notebook
    def cse(graph: Graph) -> Graph: ...

From the second definition on, the library's `cse` runs the student's function, and so does
every compilation. `unplug("passes.cse")` brings ours back. While a student's function runs, the
slot that it fills is masked: it cannot answer by calling the library.

Next room: course_lib/ir/types.py, where the language of the compiler begins.
"""

from __future__ import annotations

import difflib
import dis
import functools
import importlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from course_lib.arguments import explain

KINDS = ("implement", "inverse", "evidence", "number", "budget", "explain")

# Where each exercise of the library stands. Its name is on students' answers and in gradebooks, so
# it never changes; its file may.
MODULES = {
    "accelerator.systolic.cycles": "accelerator.systolic",
    "chip.dataflow": "accelerator.compile.search",
    "chip.products": "accelerator.compile.products",
    "chip.slots": "accelerator.compile.slots",
    "chip.tile": "accelerator.compile.search",
    "cost.cache.missed": "cost.cache",
    "frontend.onnx_surgery.fold_batch_norms": "frontend.onnx.surgery",
    "frontend.onnx_surgery.fuse_relu": "frontend.onnx.surgery",
    "ir.graph.topological_order": "ir.graph.order",
    "ir.verify.misplaced": "ir.graph.verify",
    "ir.windows.positions": "ir.windows",
    "llvm.constants": "llvm.inspect.constants",
    "llvm.control.balanced": "llvm.inspect.control.balance",
    "llvm.fma.arithmetic": "llvm.inspect.fma",
    "machine.cover": "machine.cover",
    "machine.linear_scan": "machine.linear_scan",
    "machine.list_schedule": "machine.list_schedule",
    "measure.fair_rounds": "measure.fair",
    "measure.interval": "measure.interval",
    "passes.bn_fold": "passes.clean.bn_fold",
    "passes.cse": "passes.clean.cse",
    "passes.dce": "passes.clean.dce",
    "passes.fixpoint": "passes.clean.fixpoint",
    "passes.fold": "passes.clean.fold",
    "passes.fuse": "passes.fusion.fuse",
    "passes.horizontal": "passes.fusion.horizontal",
    "passes.match": "passes.infra.match",
    "passes.should_fuse": "passes.fusion.should_fuse",
    "passes.simplify": "passes.clean.simplify",
    "passes.sink_relayouts": "passes.layout.sink_relayouts",
    "passes.strength": "passes.clean.strength",
    "plugins.narrowed": "plugins.narrow",
    "schedule.beam_search": "schedule.search.beam",
    "schedule.in_place.may_overwrite": "memory.in_place",
    "schedule.memory.assign_offsets": "memory.offsets",
    "schedule.memory.liveness": "memory.liveness",
    "schedule.order.order": "memory.order",
    "schedule.skewed": "schedule.primitives.skew",
}

# Where a package above keeps exercises of its own: the module for names with that first letter,
# "{unit}" being the name's first part ("u02").
homes: dict[str, str] = {}

# What a call raises whose arguments are of another kind than it says.
WRONG_ARGUMENTS = (AttributeError, IndexError, KeyError, TypeError)

_slots: dict[str, Slot] = {}
_plugs: dict[str, Callable[..., Any]] = {}  # what is plugged in, by slot name
_answers: Counter[str] = Counter()  # by slot name: how many answers were given, stubs among them
_running: ContextVar[tuple[str, ...]] = ContextVar("running", default=())


class NotAnswered(NotImplementedError):
    """A cell needs an exercise that has no answer yet. Notebooks show the message alone."""

    def __init__(self, name: str):
        super().__init__(f"{name} has no answer yet. Write it in its exercise cell, run that cell.")

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class UnknownExercise(ValueError):
    """No exercise has this name."""


@dataclass(eq=False)
class Slot:
    """One exercise: what it asks for, our answer, the simple stand-in, the student's answer."""

    name: str
    unit: int
    points: int
    kind: str
    reference: Callable[..., Any]
    baseline: Callable[..., Any] | None
    uses: tuple[str, ...] = ()
    further: bool = False  # its points are a bonus, and nothing later needs it
    lab: str = ""  # the lab of the unit that asks for it; nothing later needs that, either
    call: Callable[..., Any] = field(init=False)  # what the library's name is bound to
    run: Callable[..., Any] = field(init=False)  # what a call runs now
    plugged: Callable[..., Any] | None = field(init=False, default=None)
    empty: bool = field(init=False, default=False)  # its cell ran last with the empty stub
    masked: tuple[Any, Any] = field(init=False, default=(None, None))  # the latest, and its `run`

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.name}: kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        self.call = self.run = self.reference

    @property
    def key(self) -> str:
        """What it is handed in with: "u07", the unit's notebook, or "u07_lab_matmul", a lab."""
        return f"u{self.unit:02d}" + (f"_lab_{self.lab}" if self.lab else "")

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.reference)

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.reference) or ""

    @property
    def answered(self) -> bool:
        """True once a function other than the empty stub is plugged in."""
        return self.plugged is not None

    def plug(self, function: Callable[..., Any] | None) -> None:
        self.plugged = function
        if function is None:
            _plugs.pop(self.name, None)
            self.run = self.reference
            return
        _plugs[self.name] = function
        if function is self.reference or function is self.baseline:  # `==` may be anything
            self.run = function
            return
        if self.masked[0] is not function:
            self.masked = function, _masked(self.name, function)
        self.run = self.masked[1]


def exercise(
    name: str,
    *,
    unit: int,
    points: int,
    kind: str = "implement",
    baseline: Callable[..., Any] | None = None,
    uses: tuple[str, ...] = (),
    further: bool = False,
    lab: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the reference of slot `name`.

    `baseline` is what the compiler does before that unit (correct, only slower); without one the
    student edition has no body here at all. `uses` names the exercises that an answer to this one
    stands on: while it is checked, those run the student's own answers, and all others their
    stand-ins. A `further` exercise is beyond the core of its unit: its points are a bonus, and
    nothing later needs it. `lab` names the lab of that unit which asks for it, if one does.
    """

    def register(reference: Callable[..., Any]) -> Callable[..., Any]:
        entry = Slot(name, unit, points, kind, reference, baseline, tuple(uses), further, lab)
        previous = _slots.get(name)
        if previous is not None:  # the module was reloaded: what was plugged in stays plugged in
            entry.plug(previous.plugged)
            entry.empty = previous.empty
        _slots[name] = entry

        @functools.wraps(reference)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return entry.run(*args, **kwargs)
            except WRONG_ARGUMENTS:
                explain(reference, args, kwargs)
                raise

        entry.call = call
        return call

    return register


def implements(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Plug the decorated function into slot `name`.

    An empty stub leaves the slot as it is, and its name then means the library's function.
    """
    entry = slot(name)

    def plug(function: Callable[..., Any]) -> Callable[..., Any]:
        _answers[name] += 1
        entry.empty = is_stub(function)
        if entry.empty:
            return entry.call
        entry.plug(function)
        return function

    return plug


def unplug(name: str | None = None) -> None:
    """Bring the library's own function back: for one slot, or for all of them."""
    for entry in [slot(name)] if name else _slots.values():
        entry.plug(None)


@contextmanager
def plugged(name: str, function: Callable[..., Any] | None) -> Iterator[None]:
    """Run the block with `function` in slot `name` (None: with the library's own)."""
    entry = slot(name)
    before = entry.plugged
    entry.plug(function)
    try:
        yield
    finally:
        entry.plug(before)


@contextmanager
def baselines(*names: str) -> Iterator[None]:
    """Run the block with the simple stand-in in each of these slots, to measure what it costs."""
    with ExitStack() as stack:
        for name in names:
            if slot(name).baseline is None:
                raise ValueError(f"{name} has no baseline: the compiler does not run through it")
            stack.enter_context(plugged(name, slot(name).baseline))
        yield


@contextmanager
def using(plugs: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Run the block with exactly these functions plugged in and every other slot unplugged."""
    before = plugs_now()
    use(plugs)
    try:
        yield
    finally:
        use(before)


def use(plugs: Mapping[str, Callable[..., Any]]) -> None:
    """From now on exactly these functions are plugged in."""
    if not _plugs and not plugs:
        return
    for name in {**_plugs, **plugs}:
        function = plugs.get(name)
        if _plugs.get(name) is not function:
            slot(name).plug(function)


def plugs_now() -> dict[str, Callable[..., Any]]:
    """What is plugged in, by slot name."""
    return dict(_plugs)


def answers_until_now() -> Counter[str]:
    """How often `implements` was given a function, by slot name, be it one that it had before."""
    return _answers.copy()


def slot(name: str) -> Slot:
    """The slot of that name; its module is imported when it is not yet. UnknownExercise if there is
    none, with the name that comes nearest."""
    if not isinstance(name, str):
        raise UnknownExercise(f'an exercise is named by a text, as in check("u02.zero"): {name!r}')
    if name not in _slots:
        _import_home(name)
    if name not in _slots:
        near = difflib.get_close_matches(name, {**MODULES, **_slots}, n=1)
        known = ", ".join(sorted(_slots)) or "none so far"
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {known}"
        raise UnknownExercise(f"no exercise is named {name!r}. {hint}")
    return _slots[name]


def slots(unit: int | None = None) -> list[Slot]:
    """The slots of all files that were imported until now (`load_all`: of all there are), of one
    unit and its labs or of all, in the order in which they were defined."""
    return [entry for entry in _slots.values() if unit is None or entry.unit == unit]


@functools.cache
def load_all() -> None:
    """Import every file of the library that has an exercise, so that `slots` is complete. Where a
    package is missing that such a file needs, it is left out."""
    for module in dict.fromkeys(MODULES.values()):
        try:
            importlib.import_module(f"course_lib.{module}")
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("course_lib"):  # a line of `MODULES` is wrong
                raise


def is_stub(function: Callable[..., Any]) -> bool:
    """True for a function that does nothing but raise NotImplementedError."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or code.co_names != ("NotImplementedError",):
        return False
    steps = [step.opname for step in dis.get_instructions(code)]
    return not any(step.startswith(("RETURN", "YIELD")) for step in steps)


def _masked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        running = _running.get()
        if name in running:
            raise RecursionError(
                f"your {name} called {name} of the library, which is your own function again. "
                "To recurse, call your function by the name that you gave it in the notebook."
            )
        token = _running.set((*running, name))
        try:
            return function(*args, **kwargs)
        finally:
            _running.reset(token)

    return run


def _import_home(name: str) -> None:
    """Import the module that registers this exercise; nothing if there is none."""
    if name in MODULES:
        importlib.import_module(f"course_lib.{MODULES[name]}")
        return
    module = homes.get(name[:1], "").format(unit=name.split(".")[0])
    try:
        if module:
            importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
