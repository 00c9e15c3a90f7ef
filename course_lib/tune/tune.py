"""A model is tuned: convolutions, groups, kernels one after another, and what gains is kept.

    found = tune(model, [x], seconds=60)
    found.tuned.save("model.tuned.json")
    run = course_lib.compile(model, [x], search="model.tuned.json")

    algorithm convolutions of 3x3 by Winograd, where whole models gain by it (`whole.py`)
    groups    other nodes share a kernel, where that is cheaper by the cost model (`groups.py`)
    kernels   those that differ, by their share of the model's time: so much of the budget has each
    search    the cost model proposes, the clock decides (`measure.py`)
    duel      default and best take turns; what is not faster by more than the noise is not kept
    whole     so do whole models, for a kernel alone finds other things in the caches (`whole.py`)

Next room: `course_lib/commands/infra/task.py`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from course_lib import __version__
from course_lib.arguments import takes
from course_lib.compiler import inputs_of, read
from course_lib.cost.machine import Machine
from course_lib.cost.nest import predict
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.samples import random_inputs
from course_lib.llvm.host import host_machine
from course_lib.measure.duel import faster, ratio
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import Grouping, key_of_graph
from course_lib.passes.infra.manager import Pass
from course_lib.passes.layout.layout import layout
from course_lib.passes.pipeline import DEFAULT
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.script import Schedule
from course_lib.schedule.search.beam import WIDTH, beam
from course_lib.schedule.search.choice import CONVOLUTIONS, GROUPS, Choice, Names
from course_lib.schedule.search.problem import Budget, Candidate, Measure, Price, Problem, Record
from course_lib.schedule.search.tuned import Tuned
from course_lib.tune.farm import Farm
from course_lib.tune.groups import search_groups
from course_lib.tune.measure import Ask, Measuring
from course_lib.tune.shares import Work, shares, works
from course_lib.tune.whole import NOISE, Whole, checked, measured_convolutions, measured_groups

DECIDES = ("model", "time", "both")  # what a search goes by
SEARCH = 0.8  # of the time of a kernel; the rest is for its duel
HURRY = 2.0  # seconds for the duel of the models after Ctrl-C
WINOGRAD = 0.1  # of the budget, for models with other convolutions
GROUPING = 0.15  # of the budget, for the search of the groups
CHECK = 0.15  # of the budget, for the duel of the models
TURNS = 3  # cuts and joins, one after another, that lead to other groups
Timer = Measuring | Farm
Progress = Callable[[float, str], object]  # seconds that went by, and what is being done


@dataclass(frozen=True)
class How:
    """How to search.

    search   `beam` of `schedule/search/`, or another one with its interface
    options  what that search takes besides: width and depth of a beam
    decides  "model": the cost model alone; "time": the clock alone; "both": the model proposes
    jobs     processes that measure at the same time
    farm     the address of a Dask cluster that measures; "": one on this machine; None: nobody else
    insecure a farm elsewhere may be used without certificates
    direct   no convolution by Winograd, whose sums differ in their last bits
    """

    search: Callable[..., Record] = beam
    options: dict[str, Any] = field(default_factory=dict)
    decides: str = "both"
    jobs: int = 1
    farm: str | None = None
    insecure: bool = False
    seed: int = 0
    threads: int | None = None
    passes: Sequence[Pass] | None = None
    direct: bool = False
    priced: int = 300
    price: Price = predict

    def __post_init__(self) -> None:
        if self.decides not in DECIDES:
            raise ValueError(f"decides is one of {', '.join(DECIDES)}, got {self.decides!r}")


@dataclass(frozen=True)
class Tuning:
    """What came out. `tuned` is the value to keep; milliseconds are of the whole model, and `gain`
    is how many times as fast it became, in the middle one of all rounds."""

    tuned: Tuned
    work: tuple[Work, ...]
    records: dict[str, Record]
    convolutions: Choice[Names] | None
    groups: Choice[Grouping] | None
    default_ms: float
    tuned_ms: float
    gain: float
    stopped: str
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "default_ms": self.default_ms,
            "tuned_ms": self.tuned_ms,
            "speedup": self.gain,
            "tried": sum(entry.tried for entry in self.tuned.kernels.values()),
            "stopped": self.stopped,
            "seconds": self.seconds,
            "convolutions": self.convolutions and CONVOLUTIONS.to_json(self.convolutions),
            "groups": self.groups and GROUPS.to_json(self.groups),
            "kernels": [self._row(work) for work in self.work],
        }

    def _row(self, work: Work) -> dict[str, Any]:
        entry = self.tuned.kernels.get(work.key, Choice[Schedule](None, why="not searched"))
        whole = sum(w.calls * w.seconds for w in self.work)
        before, after = entry.predicted
        return {
            "kernel": work.kernel.name,
            "origin": list(work.kernel.origin),
            "calls": work.calls,
            "share": work.calls * work.seconds / whole if whole else 0.0,
            "tried": entry.tried,
            "predicted_speedup": before / after if before and after else None,
            "measured_speedup": entry.gain,
            "schedule": None if entry.value is None else str(entry.value).splitlines(),
            "why": entry.why,
        }


def _check(seconds: float) -> None:
    if not seconds >= 0:
        raise ValueError(f"tune: the seconds to search are 0 or more, got {seconds}")


@takes
def tune(
    model: Any,
    example_inputs: Any = None,
    seconds: float = 60.0,
    how: How | None = None,
    resume: Tuned | None = None,
    path: str | Path | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Search schedules for the kernels of a model, for about so many seconds.

    resume    what was found before: these kernels are not searched again
    path      a file that has what was found so far at any moment

    Ctrl-C ends the search, and what was found until then is compared with the default.
    """
    _check(seconds)
    how, start = how or How(), time.perf_counter()
    machine = host_machine(how.threads)
    tuned = _begun(resume, machine)
    graph = read(model, example_inputs)
    arrays = _arrays(graph, example_inputs)
    whole = Whole(graph, DEFAULT if how.passes is None else how.passes, arrays, how.threads)
    default = whole.compiled()
    model, tuned, interrupted = chosen(whole, tuned, default, how, seconds)
    work = works(model, arrays, machine)
    records: dict[str, Record] = {}
    if not interrupted:
        apart = sum(array.nbytes for array in default.program.constants.values())
        with _timer(how, machine) as timer:
            search = partial(_Search, machine=machine, how=how, timer=timer, apart=apart,
                             start=start, progress=progress)  # fmt: skip
            end = start + (1 - CHECK) * seconds
            tuned, records, interrupted = searched(search, work, tuned, end, path)
    check = min(CHECK * seconds, HURRY) if interrupted else CHECK * seconds
    tuned, times = checked(whole, tuned, default, work, check)
    tuned.keep()
    if path is not None:
        tuned.save(path)
    return Tuning(
        tuned, work, records, *_of_the_graph(whole, tuned),
        default_ms=1e3 * median(times[0]),
        tuned_ms=1e3 * median(times[1]),
        gain=ratio(*times),
        stopped="interrupted" if interrupted else "complete",
        seconds=time.perf_counter() - start,
    )  # fmt: skip


def _begun(resume: Tuned | None, machine: Machine) -> Tuned:
    """What was found before, or nothing, with the versions of today."""
    if resume is not None and resume.machine != machine:
        raise ValueError(f"cannot resume: tuned for {resume.machine}, and this is {machine}")
    today = {"course_lib": __version__, "llvmlite": version("llvmlite")}
    return replace(resume or Tuned(machine), versions=today)


def _of_the_graph(whole: Whole, tuned: Tuned) -> tuple[Any, Any]:
    """What was found for its convolutions, and for its groups."""
    at_layout, at_fuse = whole.at(layout), whole.at(fuse, tuned)
    return (
        tuned.convolutions.get(key_of_graph(at_layout)) if at_layout else None,
        tuned.groups.get(key_of_graph(at_fuse)) if at_fuse else None,
    )


def chosen(
    whole: Whole, tuned: Tuned, default: CompiledModel, how: How, seconds: float
) -> tuple[CompiledModel, Tuned, bool]:
    """The model with the convolutions and the groups that gain and default schedules, what is known
    of it, and whether that search was interrupted."""
    measures, model, graph = how.decides != "model", default, whole.at(layout)
    try:
        if graph and not how.direct and key_of_graph(graph) not in tuned.convolutions:
            tuned = measured_convolutions(whole, tuned, model, measures * WINOGRAD * seconds)
        if graph and tuned.convolutions_of(graph):
            model = whole.compiled(replace(tuned, kernels={}, groups={}))
        graph = whole.at(fuse, tuned)
        if graph and key_of_graph(graph) not in tuned.groups:
            width, half = how.options.get("width", WIDTH), GROUPING * seconds / 2
            record = search_groups(graph, tuned.machine, width, TURNS, half, how.price)
            tuned = measured_groups(whole, tuned, record, model, measures * half)
            if record.stopped == "interrupted":
                return model, tuned, True
        if graph and tuned.groups_of(graph):
            model = whole.compiled(replace(tuned, kernels={}))
    except KeyboardInterrupt:
        return model, tuned, True
    return model, tuned, False


def searched(
    search: Callable[[Work], _Search],
    work: Sequence[Work],
    tuned: Tuned,
    end: float,
    path: str | Path | None,
) -> tuple[Tuned, dict[str, Record], bool]:
    """Kernel after kernel until `end`: what is known then, the record of each kernel that was
    searched, and whether the search was interrupted. `path` is written after each kernel."""
    records: dict[str, Record] = {}
    for one, share in shares(work, tuned, end):
        try:
            entry, records[one.key] = search(one).entry(share)
        except KeyboardInterrupt:  # in its duel: the search itself ends with what it has
            return tuned, records, True
        tuned = tuned.with_schedule(one.kernel, one.constants, entry)
        if path is not None:
            tuned.save(path)
        if records[one.key].stopped == "interrupted":
            return tuned, records, True
    return tuned, records, False


@dataclass(frozen=True)
class _Search:
    """One kernel: search, then a duel with the default."""

    work: Work
    machine: Machine
    how: How
    timer: Timer
    apart: int
    start: float
    progress: Progress | None

    def entry(self, seconds: float) -> tuple[Choice[Schedule], Record]:
        """What is kept of it, and the record of the search."""
        work, how = self.work, self.how
        problem = Problem(work.kernel, self.machine, work.constants)
        record = how.search(
            problem,
            Budget(how.priced, measured=how.priced, seconds=SEARCH * seconds),
            self.price() if how.decides != "time" else None,
            self.measure() if how.decides != "model" else None,
            seed=how.seed,
            progress=self.report_progress,
            **how.options,
        )
        default, best = record.default.kernel, record.best.kernel
        tried = sum(c.predicted is not None or c.measured is not None for c in record.candidates)
        entry = Choice[Schedule](None, tried=tried, name=work.kernel.name)
        if record.best.number == 0 or not default or not best:
            return replace(entry, why="the search found nothing better than the default"), record
        guesses = [self.price()(kernel, self.machine).seconds for kernel in (default, best)]
        ask = replace(self.ask, seconds=0.3, rounds=21)
        before, after = self.measure(ask)([default, best], self.machine)
        times = before.seconds, after.seconds
        entry = replace(entry, predicted=tuple(guesses), measured=times)
        if not before.seconds or not after.seconds:
            return replace(entry, why=before.why or after.why), record
        if not faster(before.rounds, after.rounds):
            return replace(entry, why=NOISE), record
        return replace(entry, value=record.best.schedule), record

    @property
    def ask(self) -> Ask:
        return Ask(apart=self.apart, constants=tuple(sorted(self.work.constants)))

    def price(self) -> Price:
        return lambda kernel, machine: self.how.price(
            kernel, replace(machine, threads=self.work.threads)
        )

    def measure(self, ask: Ask | None = None) -> Measure:
        return lambda kernels, machine: self.timer(
            kernels, replace(machine, threads=self.work.threads), ask or self.ask
        )

    def report_progress(self, count: int, best: Candidate) -> None:
        if self.progress:
            seconds = f"{1e6 * best.seconds:.1f} us" if best.seconds else ""
            words = f"{self.work.kernel.name[:40]}: {count} tried, {seconds}"
            self.progress(time.perf_counter() - self.start, words)


def _arrays(graph: Graph, given: Any) -> list[np.ndarray]:
    inputs = inputs_of(given)
    return random_inputs(graph) if inputs is None else inputs


@contextlib.contextmanager
def _timer(how: How, machine: Machine):
    if how.farm is None:
        timer = Measuring(jobs=how.jobs)
    else:
        timer = Farm(how.farm, machine, jobs=how.jobs, insecure=how.insecure)
    with timer:
        yield timer
