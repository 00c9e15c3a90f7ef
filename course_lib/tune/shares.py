"""Which kernel of a model takes how much of its time: so much of a budget has its search.

    works(compiled, arrays, machine)   ->   (Work(@conv_3, calls=2, seconds=0.0012), ...)
    shares(works, tuned, end)          ->   @conv_3 and 12.0 seconds, then @conv_1 and ...

Next room: `groups.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.cost.machine import Machine
from course_lib.cost.work import worth_a_thread
from course_lib.ir.loops.nest import Kernel
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.schedule import fixed_operands
from course_lib.schedule.search.tuned import Tuned, key_of

LEAST = 0.5  # seconds; a search that would get less is not begun
FEW = 8  # candidates; a kernel for which no more were tried is searched again


@dataclass(frozen=True)
class Work:
    """A kernel of the model, with what a search has to know of it.

    calls    how many steps run it, one of them `seconds` long
    threads  on how many it runs: one, where it has too little to do
    """

    kernel: Kernel
    constants: frozenset[str]
    calls: int
    threads: int
    seconds: float

    @property
    def key(self) -> str:
        return key_of(self.kernel, self.constants)


def works(model: CompiledModel, arrays: Sequence[np.ndarray], machine: Machine) -> tuple[Work, ...]:
    """The kernels of a model that differ, those with the largest share of its time first.

    Each step runs alone for once, among the others, so that caches hold what they hold in a call.
    """
    loops = model.stage("loops").form
    seconds = _step_seconds(model, arrays)
    by_key: dict[str, Work] = {}
    for step, took in zip(loops.steps, seconds, strict=True):
        if step.kernel is None:
            continue
        threads = machine.threads if worth_a_thread(step.node) else 1
        work = Work(step.kernel, fixed_operands(loops, step), 1, threads, took)
        before = by_key.get(work.key, replace(work, calls=0, seconds=0.0))
        whole = before.calls * before.seconds + took
        by_key[work.key] = replace(
            before, calls=before.calls + 1, seconds=whole / (before.calls + 1)
        )  # fmt: skip
    return tuple(sorted(by_key.values(), key=lambda w: -w.calls * w.seconds))


def shares(work: Sequence[Work], tuned: Tuned, end: float) -> Iterator[tuple[Work, float]]:
    """The kernels that were not searched yet, one after another, and the seconds of each: its part
    of what is left until `end`, as large as its part of the time of those that are left."""
    left = [one for one in work if not _is_searched(one, tuned)]
    while left:
        rest = sum(w.calls * w.seconds for w in left)
        one = left.pop(0)
        share = (end - time.perf_counter()) * one.calls * one.seconds / max(rest, 1e-12)
        if share >= LEAST:
            yield one, share


def _is_searched(work: Work, tuned: Tuned) -> bool:
    """Was there time for more than a few candidates?"""
    entry = tuned.kernels.get(work.key)
    return entry is not None and (entry.tried >= FEW or entry.value is not None)


def _step_seconds(model: CompiledModel, arrays: Sequence[np.ndarray], rounds: int = 5):
    least = [float("inf")] * len(model.calls)
    for _ in range(rounds):
        values = model.buffers.of_a_call(arrays)
        for number, call in enumerate(model.calls):
            start = time.perf_counter()
            call(values)
            least[number] = min(least[number], time.perf_counter() - start)
    return least
