"""A search as data: the problem, each candidate with what became of it, the record of all of them.

>>> from course_lib.cost.machine import Machine
>>> from course_lib.ir.loops.parse import parse_kernel
>>> double = parse_kernel('''
... kernel @double(x: f32[8], out: f32[8]) { for n in 0..8 { out[n] = x[n] + x[n] } }''')
>>> problem = Problem(double, Machine())
>>> Problem.from_json(problem.to_json()) == problem
True

A candidate is a list of decisions (`moves.py`), so the candidates of a search are a tree: each one
has a parent, with one decision less. Next room: `moves.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from course_lib.cost.machine import Machine
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.script import Schedule, parse_schedule
from course_lib.schedule.steps import Step


@dataclass(frozen=True)
class Problem:
    """A kernel in textbook loops, the machine that it is for, and the operands that are constants,
    which a schedule may rearrange beforehand."""

    kernel: Kernel
    machine: Machine
    constants: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Any]:
        return {
            "kernel": print_kernel(self.kernel),
            "machine": asdict(self.machine),
            "constants": sorted(self.constants),
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Problem:
        machine = Machine(**data["machine"])
        return Problem(parse_kernel(data["kernel"]), machine, frozenset(data["constants"]))


class Predicted(Protocol):
    """What a cost model says of a kernel."""

    @property
    def seconds(self) -> float: ...


@dataclass(frozen=True)
class Timing:
    """What measuring said of a kernel: the seconds of its shortest round, for what disturbs a run
    only makes it longer, and of every round; or in `why` the reason for which there is no time."""

    seconds: float | None
    why: str = ""
    rounds: tuple[float, ...] = ()

    @staticmethod
    def of(rounds: Sequence[float]) -> Timing:
        return Timing(min(rounds), "", tuple(rounds))

    def times(self, factor: float) -> Timing:
        """As if the machine were so many times as slow."""
        return self if self.seconds is None else Timing.of([factor * s for s in self.rounds])


Price = Callable[[Kernel, Machine], Predicted]
Measure = Callable[[Sequence[Kernel], Machine], Sequence[Timing]]  # all of them in turns


@dataclass(frozen=True)
class Decision:
    """Steps that belong together. `kind` is one of `moves.KINDS`."""

    kind: str
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.steps)) or f"no {self.kind}"


@dataclass(frozen=True)
class Candidate:
    """One schedule that was tried.

    number     its place in the record; 0 is the default schedule
    parent     the number of the candidate that it was made from; None for a first one
    decisions  from which its schedule was made
    schedule   all steps, with those that finish it
    kernel     what the schedule makes of the kernel; None if it was dropped, or read from a file
    predicted  seconds by the cost model; measured: by the clock; None if nobody asked
    dropped    why it is out of the race: the same kernel as another one, crashed, too slow
    """

    number: int
    parent: int | None
    decisions: tuple[Decision, ...]
    schedule: Schedule
    kernel: Kernel | None = None
    predicted: float | None = None
    measured: float | None = None
    dropped: str = ""

    @property
    def seconds(self) -> float | None:
        """What counts: measured, where that is known."""
        return self.predicted if self.measured is None else self.measured

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "parent": self.parent,
            "decisions": [[d.kind, str(Schedule(d.steps))] for d in self.decisions],
            "schedule": str(self.schedule),
            "predicted": self.predicted,
            "measured": self.measured,
            "dropped": self.dropped,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Candidate:
        decisions = tuple(Decision(k, parse_schedule(text).steps) for k, text in data["decisions"])
        parsed = {"decisions": decisions, "schedule": parse_schedule(data["schedule"])}
        return Candidate(**{**data, **parsed})


@dataclass(frozen=True)
class Budget:
    """When a search has to stop: after so many kernels were priced or measured, or seconds went by.

    Seconds depend on the machine; a search that counts is the same every time.
    """

    priced: int = 300
    measured: int = 40
    seconds: float = float("inf")


@dataclass(frozen=True)
class Record:
    """All that a search did.

    method     "beam", "greedy", "random" or "evolve", with its `options`
    candidates in the order in which they were made; duplicates and crashed ones are among them
    rounds     the numbers of the candidates that went on, round after round
    refused    how many moves no primitive accepted
    stopped    why it ended: "complete", "budget: 300 priced", "interrupted"
    """

    problem: Problem
    method: str
    options: dict[str, Any]
    candidates: tuple[Candidate, ...]
    rounds: tuple[tuple[int, ...], ...] = ()
    refused: int = 0
    stopped: str = "complete"
    seconds: float = field(default=0.0, compare=False)  # how long it took

    @property
    def default(self) -> Candidate:
        """The schedule that the compiler chooses without a search."""
        return self.candidates[0]

    @property
    def best(self) -> Candidate:
        """The fastest, of equal ones the first: never slower than the default, by whatever counts.
        Where anything was measured, only what was measured counts."""
        return best_of(self.candidates)

    @property
    def priced(self) -> int:
        return sum(c.predicted is not None for c in self.candidates)

    @property
    def measured(self) -> int:
        return sum(c.measured is not None for c in self.candidates)

    @property
    def gain(self) -> float:
        """How many times as fast as the default the best one is."""
        default, best = self.default.seconds, self.best.seconds
        return default / best if default and best else 1.0

    def path(self, number: int) -> list[Candidate]:
        """The candidate, its parent, and so on up to a first one."""
        ancestry = [self.candidates[number]]
        while (parent := ancestry[-1].parent) is not None:
            ancestry.append(self.candidates[parent])
        return ancestry

    def to_json(self) -> dict[str, Any]:
        """Plain data, for `json.dumps`."""
        return {
            "problem": self.problem.to_json(),
            "method": self.method,
            "options": self.options,
            "candidates": [c.to_json() for c in self.candidates],
            "rounds": [list(numbers) for numbers in self.rounds],
            "refused": self.refused,
            "stopped": self.stopped,
            "seconds": self.seconds,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Record:
        """The inverse; the kernels of the candidates are not in it, their schedules are."""
        parsed = {
            "problem": Problem.from_json(data["problem"]),
            "candidates": tuple(map(Candidate.from_json, data["candidates"])),
            "rounds": tuple(map(tuple, data["rounds"])),
        }
        return Record(**{**data, **parsed})

    def __str__(self) -> str:
        best, where = self.best, f"{self.method} of @{self.problem.kernel.name}"
        counts = f"{self.priced} priced, {self.measured} measured, {self.refused} refused"
        return f"{where}: {counts}, {self.stopped}; {self.gain:.2f} times as fast\n{best.schedule}"


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """See `Record.best`."""
    racing = [c for c in candidates if not c.dropped]
    if candidates[0].dropped or any(c.measured is not None for c in racing):
        racing = [c for c in racing if c.measured is not None]
    known = [c for c in racing if c.seconds is not None]
    return min(known, key=lambda c: (c.seconds, c.number)) if known else candidates[0]


def nameless(kernel: Kernel) -> str:
    """The text of a kernel but for its name and origin: equal for kernels that do the same."""
    return print_kernel(replace(kernel, name="", origin=()))
