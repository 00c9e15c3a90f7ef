"""Tuned schedules as a value: for each kernel, by the hash of its text, what a search found.

    {"format": "course_lib tuned schedules 1",
     "machine": {"name": "znver4", "threads": 2, ...},
     "versions": {"course_lib": "0.1.0", "llvmlite": "0.45.1"},
     "kernels": {"6f1e...": {"name": "matmul_add_relu_0", "schedule": ["split(n, 32)", ...],
                             "predicted": [3e-6, 2e-6], "measured": [3.1e-6, 2.4e-6], ...}},
     "groups": {"90ab...": {"groups": [["2", "3"], ["5", "6", "7"]], ...}}}

`groups` says, by the hash of a graph's text, which of its nodes share a kernel. That is the whole
file: text that can be read, shipped and merged. What it says can be slow, but never wrong: a
schedule is applied step by step, and a primitive refuses what would change the meaning, as
`check_group` does with groups. Next room: `course_lib/tune/measure.py`, which measures.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from course_lib.cost.machine import Machine
from course_lib.ir.graph.graph import Graph
from course_lib.ir.loops.nest import Kernel
from course_lib.keep import look_up, put
from course_lib.passes.fusion.regroup import Grouping, key_of_graph
from course_lib.schedule.script import Schedule, parse_schedule
from course_lib.schedule.search.problem import nameless

FORMAT = "course_lib tuned schedules 1"
Pair = tuple[float | None, float | None]
Found = TypeVar("Found")


class Schedules(Protocol):
    """Where a compilation looks for schedules that were searched beforehand."""

    def schedule_of(self, kernel: Kernel, constants: frozenset[str]) -> Schedule | None:
        """The schedule of a kernel; None: the compiler has to choose one."""

    def groups_of(self, graph: Graph) -> Grouping | None:
        """Which nodes share a kernel; None: the compiler has to choose."""


@dataclass(frozen=True)
class Entry:
    """What was found for a kernel.

    schedule   None: nothing that is faster than the default by more than the noise
    predicted  seconds of the default and of the schedule, by the cost model
    measured   the same by the clock
    tried      how many candidates were priced or measured
    why        in words, where the default stays
    """

    name: str
    schedule: Schedule | None
    predicted: Pair = (None, None)
    measured: Pair = (None, None)
    tried: int = 0
    why: str = ""

    @property
    def gain(self) -> float:
        """How many times as fast as the default the kernel is."""
        before, after = self.measured
        return before / after if self.schedule and before and after else 1.0

    def to_json(self) -> dict[str, Any]:
        steps = None if self.schedule is None else str(self.schedule).splitlines()
        return {**asdict(self), "schedule": steps, "predicted": list(self.predicted),
                "measured": list(self.measured)}  # fmt: skip

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Entry:
        steps = data["schedule"]
        schedule = None if steps is None else parse_schedule("\n".join(steps))
        pairs = {name: _pair(data[name]) for name in ("predicted", "measured")}
        return Entry(str(data["name"]), schedule, tried=int(data["tried"]), why=str(data["why"]),
                     **pairs)  # fmt: skip


@dataclass(frozen=True)
class Groups:
    """What was found for the groups of a graph.

    groups     None: nothing that is faster than those of `fuse` by more than the noise
    predicted  seconds of the whole graph with the groups of `fuse` and with these, by the model
    measured   the same by the clock
    tried      how many groupings were priced
    why        in words, where those of `fuse` stay
    """

    groups: Grouping | None
    predicted: Pair = (None, None)
    measured: Pair = (None, None)
    tried: int = 0
    why: str = ""

    @property
    def gain(self) -> float:
        """How many times as fast as with the groups of `fuse` the model is."""
        before, after = self.measured
        return before / after if self.groups and before and after else 1.0

    def to_json(self) -> dict[str, Any]:
        groups = None if self.groups is None else [list(group) for group in self.groups]
        return {**asdict(self), "groups": groups, "predicted": list(self.predicted),
                "measured": list(self.measured)}  # fmt: skip

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Groups:
        groups, pairs = data["groups"], {n: _pair(data[n]) for n in ("predicted", "measured")}
        if groups is not None:
            groups = tuple(tuple(map(str, group)) for group in groups)
        return Groups(groups, tried=int(data["tried"]), why=str(data["why"]), **pairs)


@dataclass(frozen=True)
class Tuned:
    """Schedules for one machine. `kernels` by `key_of`, `groups` by `key_of_graph`."""

    machine: Machine
    versions: Mapping[str, str] = field(default_factory=dict)
    kernels: Mapping[str, Entry] = field(default_factory=dict)
    groups: Mapping[str, Groups] = field(default_factory=dict)

    def schedule_of(self, kernel: Kernel, constants: frozenset[str]) -> Schedule | None:
        entry = self.kernels.get(key_of(kernel, constants))
        return entry.schedule if entry else None

    def groups_of(self, graph: Graph) -> Grouping | None:
        found = self.groups.get(key_of_graph(graph)) if self.groups else None
        return found.groups if found else None

    def with_entry(self, kernel: Kernel, constants: frozenset[str], entry: Entry) -> Tuned:
        return replace(self, kernels={**self.kernels, key_of(kernel, constants): entry})

    def __str__(self) -> str:
        """The text of a file, which `parse_tuned` reads back."""
        kernels = {key: entry.to_json() for key, entry in sorted(self.kernels.items())}
        data = {"format": FORMAT, "machine": asdict(self.machine), "versions": dict(self.versions)}
        groups = {key: found.to_json() for key, found in sorted(self.groups.items())}
        return json.dumps({**data, "kernels": kernels, "groups": groups}, indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the file at once: whoever reads meanwhile sees the old one or the new one."""
        path = Path(path)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(str(self))
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def keep(self) -> None:
        """Leave every schedule where `Kept` finds it."""
        for key, entry in self.kernels.items():
            put("tuned", _kept_key(key, self.machine), (json.dumps(entry.to_json()).encode(), b""))
        for key, found in self.groups.items():
            put("tuned", _kept_key(key, self.machine), (json.dumps(found.to_json()).encode(), b""))


@dataclass(frozen=True)
class Kept:
    """The schedules that were ever found on this machine (`course_lib/keep.py`)."""

    machine: Machine

    def schedule_of(self, kernel: Kernel, constants: frozenset[str]) -> Schedule | None:
        entry = self.entry(key_of(kernel, constants))
        return entry.schedule if entry else None

    def groups_of(self, graph: Graph) -> Grouping | None:
        found = self._read(key_of_graph(graph), Groups.from_json)
        return found.groups if found else None

    def entry(self, key: str) -> Entry | None:
        return self._read(key, Entry.from_json)

    def _read(self, key: str, parse: Callable[[Any], Found]) -> Found | None:
        found = look_up("tuned", _kept_key(key, self.machine))
        try:
            return parse(json.loads(found[0])) if found else None
        except (ValueError, KeyError, TypeError):  # written by another version
            return None


def key_of(kernel: Kernel, constants: frozenset[str]) -> str:
    """The same for kernels that may share a schedule: the hash of their text but for the name."""
    text = f"{nameless(kernel)}{sorted(constants)}"
    return hashlib.sha256(text.encode()).hexdigest()


def parse_tuned(text: str) -> Tuned:
    """The inverse of `str(tuned)`. ValueError in words for anything else."""
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise ValueError(f"its format is {data['format']!r}, not {FORMAT!r}")
        kernels = {key: _parsed(f"kernel {key[:12]}", Entry.from_json, found)
                   for key, found in data["kernels"].items()}  # fmt: skip
        groups = {key: _parsed(f"graph {key[:12]}", Groups.from_json, found)
                  for key, found in data.get("groups", {}).items()}  # fmt: skip
        return Tuned(Machine(**data["machine"]), dict(data["versions"]), kernels, groups)
    except KeyError as error:
        raise ValueError(f"no tuned schedules: {error.args[0]!r} is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"no tuned schedules: {error}") from error


def load_tuned(path: str | Path) -> Tuned:
    """Read a file that `Tuned.save` wrote. ValueError with its name if it is something else."""
    try:
        return parse_tuned(Path(path).read_text("utf-8"))
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


def _parsed(what: str, parse: Callable[[Any], Found], data: Any) -> Found:
    try:
        return parse(data)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{what}: {error}") from error


def _pair(values: Any) -> Pair:
    first, second = (None if v is None else float(v) for v in values)
    return first, second


def _kept_key(key: str, machine: Machine) -> str:
    return repr((key, machine))
