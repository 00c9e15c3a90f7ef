"""Two tests for a plan: does the code write all its bytes, and are the results right?

    two_tests("block", graph, by_name)   # planned and written bytes, distance from PyTorch

Addresses come from first fit, so that only the lives differ. Next room: traces.py, what an
allocator is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

import course_lib
from course_lib.exercises import baselines, plugged
from course_lib.ir.graph.graph import Graph
from course_lib.memory.liveness import Interval, Task
from course_lib.memory.planners import first_fit
from course_lib.models import MODELS, example_inputs
from lessons.u04.chip import PLAIN

Lives = Callable[[Sequence[Task], Mapping[str, str], Collection[str]], list[Interval]]


def by_name(
    tasks: Sequence[Task], views: Mapping[str, str], outside: Collection[str]
) -> list[Interval]:
    """The life of a name, which is wrong: whoever reads a view of a value reads its bytes, too."""
    last = {name: n for n, task in enumerate(tasks) for name in (task.writes, *task.reads)}
    return [
        Interval(task.writes, task.size, n, last[task.writes])
        for n, task in enumerate(tasks)
        if task.writes not in outside
    ]


def two_tests(name: str, graph: Graph, lives: Lives | None = None) -> list[str]:
    """Planned bytes, written bytes, and the largest difference from PyTorch's result, as texts.

    lives  finds when values are alive; without it, what is plugged in
    """
    inputs = example_inputs(name)
    with torch.no_grad():
        expected = MODELS[name].build()(*map(torch.from_numpy, inputs)).numpy()
    with (
        baselines("schedule.in_place.may_overwrite", "schedule.order.order"),
        plugged("schedule.memory.liveness", lives) if lives else nullcontext(),
        plugged("schedule.memory.assign_offsets", first_fit),
    ):
        model: Any = course_lib.compile(graph, passes=PLAIN, threads=1)
    written, away = model.touched(inputs).sum(), np.abs(model(*inputs) - expected).max()
    return [f"{model.memory.size:,}", f"{written:,}", f"{away:.1g}"]
