"""Tuned schedules as a value: for each kernel, by the hash of its text, what a search found.

    {"format": "course_lib tuned schedules 1",
     "machine": {"name": "znver4", "threads": 2, ...},
     "versions": {"course_lib": "0.1.0", "llvmlite": "0.45.1"},
     "kernels": {"6f1e...": {"name": "matmul_add_relu_0", "schedule": ["split(n, 32)", ...],
                             "predicted": [3e-6, 2e-6], "measured": [3.1e-6, 2.4e-6], ...}},
     "groups": {"90ab...": {"groups": [["2", "3"], ["5", "6", "7"]], ...}},
     "convolutions": {"c4d2...": {"winograd": ["12", "31"], ...}}}

`groups` says, by the hash of a graph's text, which of its nodes share a kernel, `convolutions`
which ones Winograd computes. That is the whole file: text that can be read, shipped and merged.
What it says can be slow, but never wrong: a schedule is applied step by step, and a primitive
refuses what would change the meaning, as `check_group` does with groups and `can` with
convolutions. Next room: `course_lib/tune/measure.py`, which measures.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from course_lib.cost.machine import Machine
from course_lib.files import read_text, write
from course_lib.ir.graph.graph import Graph
from course_lib.ir.loops.nest import Kernel
from course_lib.keep import look_up, put
from course_lib.passes.fusion.regroup import Grouping, key_of_graph
from course_lib.schedule.script import Schedule
from course_lib.schedule.search.choice import (
    CONVOLUTIONS,
    GROUPS,
    KERNELS,
    Choice,
    Kind,
    Names,
)
from course_lib.schedule.search.problem import nameless

FORMAT = "course_lib tuned schedules 1"
KINDS: dict[str, Kind[Any]] = {
    "kernels": KERNELS,
    "groups": GROUPS,
    "convolutions": CONVOLUTIONS,
}
Value = TypeVar("Value")


class Schedules(Protocol):
    """Where a compilation looks for schedules that were searched beforehand."""

    def schedule_of(self, kernel: Kernel, constants: frozenset[str]) -> Schedule | None:
        """The schedule of a kernel; None: the compiler has to choose one."""

    def groups_of(self, graph: Graph) -> Grouping | None:
        """Which nodes share a kernel; None: the compiler has to choose."""

    def convolutions_of(self, graph: Graph) -> Names | None:
        """Which convolutions Winograd computes; None: those that the pipeline says."""


@dataclass(frozen=True)
class Tuned:
    """Choices for one machine. `kernels` by `key_of`, the others by `key_of_graph`."""

    machine: Machine
    versions: Mapping[str, str] = field(default_factory=dict)
    kernels: Mapping[str, Choice[Schedule]] = field(default_factory=dict)
    groups: Mapping[str, Choice[Grouping]] = field(default_factory=dict)
    convolutions: Mapping[str, Choice[Names]] = field(default_factory=dict)

    def schedule_of(self, kernel: Kernel, constants: frozenset[str]) -> Schedule | None:
        return _value(self.kernels.get(key_of(kernel, constants)))

    def groups_of(self, graph: Graph) -> Grouping | None:
        return _value(self.groups.get(key_of_graph(graph))) if self.groups else None

    def convolutions_of(self, graph: Graph) -> Names | None:
        return _value(self.convolutions.get(key_of_graph(graph))) if self.convolutions else None

    def with_schedule(
        self, kernel: Kernel, constants: frozenset[str], choice: Choice[Schedule]
    ) -> Tuned:
        return replace(self, kernels={**self.kernels, key_of(kernel, constants): choice})

    def with_groups(self, graph: Graph, choice: Choice[Grouping]) -> Tuned:
        return replace(self, groups={**self.groups, key_of_graph(graph): choice})

    def with_convolutions(self, graph: Graph, choice: Choice[Names]) -> Tuned:
        return replace(self, convolutions={**self.convolutions, key_of_graph(graph): choice})

    def __str__(self) -> str:
        """The text of a file, which `parse_tuned` reads back."""
        data: dict[str, Any] = {"format": FORMAT, "machine": asdict(self.machine)}
        data["versions"] = dict(self.versions)
        for name, kind in KINDS.items():
            choices: Mapping[str, Choice[Any]] = getattr(self, name)
            data[name] = {key: kind.to_json(choice) for key, choice in sorted(choices.items())}
        return json.dumps(data, indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the file at once: whoever reads meanwhile sees the old one or the new one."""
        write(path, str(self))

    def keep(self) -> None:
        """Leave every schedule where `Kept` finds it."""
        for name, kind in KINDS.items():
            choices: Mapping[str, Choice[Any]] = getattr(self, name)
            for key, choice in choices.items():
                text = json.dumps(kind.to_json(choice)).encode()
                put("tuned", _kept_key(kind, key, self.machine), (text, b""))


@dataclass(frozen=True)
class Kept:
    """The choices that were ever found on this machine (`course_lib/keep.py`)."""

    machine: Machine

    def schedule_of(self, kernel: Kernel, constants: frozenset[str]) -> Schedule | None:
        return self._read(key_of(kernel, constants), KERNELS)

    def groups_of(self, graph: Graph) -> Grouping | None:
        return self._read(key_of_graph(graph), GROUPS)

    def convolutions_of(self, graph: Graph) -> Names | None:
        return self._read(key_of_graph(graph), CONVOLUTIONS)

    def _read(self, key: str, kind: Kind[Value]) -> Value | None:
        kept = look_up("tuned", _kept_key(kind, key, self.machine))
        try:
            return _value(kind.from_json(json.loads(kept[0]))) if kept else None
        except (ValueError, KeyError, TypeError):  # written by another version
            return None


def _value(choice: Choice[Value] | None) -> Value | None:
    return choice.value if choice else None


def key_of(kernel: Kernel, constants: frozenset[str]) -> str:
    """The same for kernels that may share a schedule: the hash of their text but for the name."""
    text = f"{nameless(kernel)}{sorted(constants)}"
    return hashlib.sha256(text.encode()).hexdigest()


def parse_tuned(text: str) -> Tuned:
    """The inverse of `str(tuned)`. ValueError in words for anything else."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError(f"it holds a {type(data).__name__}, not an object with a format")
        if data["format"] != FORMAT:
            raise ValueError(f"its format is {data['format']!r}, not {FORMAT!r}")
        choices = {
            name: {key: _parsed(f"{name} {key[:12]}", kind, entry)
                   for key, entry in data.get(name, {}).items()}
            for name, kind in KINDS.items()
        }  # fmt: skip
        return Tuned(Machine(**data["machine"]), dict(data["versions"]), **choices)
    except KeyError as error:
        raise ValueError(f"no tuned schedules: {error.args[0]!r} is missing") from error
    except RecursionError:
        raise ValueError("no tuned schedules: it is nested too deeply") from None
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"no tuned schedules: {error}") from error


def load_tuned(path: str | Path) -> Tuned:
    """Read a file that `Tuned.save` wrote. ValueError with its name if it is something else."""
    try:
        return parse_tuned(read_text(path))
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}; `python -m course_lib tune` writes such files"
        ) from error


def schedules(search: Tuned | str | Path | None, machine: Machine) -> Schedules | None:
    """What `compile(search=...)` was given, for this machine: a `Tuned`, a file's path, "kept".

    Schedules for another machine are left alone, with a warning that says how the two differ.
    """
    if search is None:
        return None
    if search == "kept":
        return Kept(machine)
    tuned = search if isinstance(search, Tuned) else load_tuned(search)
    if tuned.machine == machine:
        return tuned
    theirs, ours = asdict(tuned.machine), asdict(machine)
    differ = (f"{k} {theirs[k]} (here {ours[k]})" for k in ours if theirs[k] != ours[k])
    what = "" if isinstance(search, Tuned) else f" of {search}"
    warnings.warn(
        f"the tuned schedules{what} are for another machine, and are not used: {', '.join(differ)}",
        stacklevel=2,
    )
    return None


def _parsed(what: str, kind: Kind[Value], data: Any) -> Choice[Value]:
    try:
        return kind.from_json(data)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{what}: {error}") from error


def _kept_key(kind: Kind[Any], key: str, machine: Machine) -> str:
    return repr((kind.name, key, machine))
