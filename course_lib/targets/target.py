"""A target: what a program is compiled for. What each of them is given, and how one is found.

    found = target("cpu")              imports course_lib/targets/cpu.py, and not before
    found.passes(Options(threads=2))   the passes that it wants to be run
    found.executable(graph, options, log)

`Options` is what was asked for, `Log` what happened on the way. A new target is a file here with a
class like `Cpu` and its `TARGET`, and a line in `TARGETS`. Next room: `cpu.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.stage import Stage
from course_lib.packages import need
from course_lib.passes.infra.manager import Pass
from course_lib.passes.pipeline import DEFAULT

if TYPE_CHECKING:
    from course_lib.accelerator.chip import Chip
    from course_lib.runtime.executable import Executable
    from course_lib.schedule.search.tuned import Schedules

# The file of each target, and the packages that it needs in any case.
TARGETS: dict[str, tuple[str, ...]] = {
    "cpu": ("llvmlite",),
    "interpreter": (),
    "systolic": (),  # it asks for "cpu" once there is something that the chip cannot do
}
Watch = Callable[[str, Any], object]


@dataclass(frozen=True)
class Options:
    """What was asked for. A target reads what concerns it.

    passes    graph passes in order
    inputs    example inputs, if there were any
    threads   how many may work on one kernel; None: as many as there are processors
    cpu       whose instructions (`llvm/host.py`)
    chip      which chip: the name of a preset, or a `Chip`
    tuned     what was searched beforehand for this machine; the passes know it already
    """

    passes: Sequence[Pass] = tuple(DEFAULT)
    inputs: Sequence[np.ndarray] | None = None
    threads: int | None = None
    cpu: str = "host"
    chip: str | Chip = "npu"
    tuned: Schedules | None = None


@dataclass(frozen=True, eq=False)
class Log:
    """What happened: every form of the program, shown to `watch` as well, and seconds by step.

    part   whose forms these are, where a program is compiled in parts: "mlp_cpu_2.loops"
    """

    watch: Watch | None = None
    stages: list[Stage] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    part: str = ""

    def see(self, name: str, form: Any) -> None:
        """Keep a form, and hand it to whoever watches."""
        stage = Stage(f"{self.part}.{name}" if self.part else name, form)
        self.stages.append(stage)
        if self.watch is not None:
            self.watch(stage.name, form)

    def of_part(self, name: str) -> Log:
        """The same log for one part of the program."""
        return Log(self.watch, self.stages, self.seconds, name)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add how long the block took to `seconds[step]`, without the steps that were timed in
        it: the seconds of all steps add up to the whole."""
        start, before = time.perf_counter(), sum(self.seconds.values())
        yield
        inner = sum(self.seconds.values()) - before
        own = time.perf_counter() - start - inner
        self.seconds[step] = self.seconds.get(step, 0.0) + own


class Target(Protocol):
    """What a program can be compiled for."""

    name: str  # as `compile(target=...)` calls it

    def passes(self, options: Options) -> Sequence[Pass]:
        """The passes that shall be run on the graph as it was imported."""
        ...

    def executable(self, graph: Graph, options: Options, log: Log) -> Executable:
        """What runs: made from the graph after these passes."""
        ...


def target(name: str) -> Target:
    """The target of this name. ValueError for another name, `MissingPackage` where it needs a
    package that is not there."""
    if name not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {name!r}")
    for package in TARGETS[name]:
        need(package)
    return import_module(f"course_lib.targets.{name}").TARGET
