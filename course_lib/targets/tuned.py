"""What was searched beforehand, for a compilation that asks: schedules, groups, convolutions.

    tuned = searched("kept", threads=2, cpu="host")     for this machine, or None
    passes_with(DEFAULT, tuned)                         those that `ask` are told what was found

Next room: `course_lib/runtime/executable.py`, what a target gives back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from course_lib.llvm.host import host_machine
from course_lib.passes.fusion.regroup import fuse_as
from course_lib.passes.infra.asks import asked
from course_lib.passes.infra.manager import Pass
from course_lib.passes.layout.winograd import winograd_as
from course_lib.schedule.search.tuned import Schedules, Tuned, schedules

# What a pass asks for -> the passes in its place, once that was found.
ANSWERS: dict[str, Callable[[Pass, Schedules], list[Pass]]] = {
    "convolutions": lambda one, tuned: [winograd_as(tuned.convolutions_of), one],
    "groups": lambda one, tuned: [fuse_as(tuned.groups_of, one)],
}


def searched(search: Tuned | str | Path, threads: int | None, cpu: str) -> Schedules | None:
    """What was found for this machine; None, with a warning, if it is for another one."""
    return schedules(search, host_machine(threads, cpu))


def passes_with(passes: Sequence[Pass], tuned: Schedules | None) -> Sequence[Pass]:
    """The same passes, told what was found for the graph that they get."""
    if tuned is None:
        return passes
    return [told for pass_ in passes for told in _told(pass_, tuned)]


def _told(pass_: Pass, tuned: Schedules) -> list[Pass]:
    return ANSWERS[asked(pass_)](pass_, tuned) if asked(pass_) else [pass_]
