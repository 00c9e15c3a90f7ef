"""Whole models against each other: what was found for the parts has to gain there.

    groups of nodes   those that the cost model likes are compiled, and take turns with the default
    schedules         all of them at first; where the model does not win, the half that gained least
                      is given up, and so on: at worst, the default is left

A kernel alone finds other things in the caches than it does in its model, so what won alone may not
win here. Next room: `tune.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from course_lib.compiler import generate
from course_lib.draw.graphs.stages import Stage
from course_lib.ir.graph.graph import Graph
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import fuse_as, key_of_graph
from course_lib.passes.infra.manager import Pass, run_passes
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.search.tuned import Groups, Tuned
from course_lib.tune.duel import faster, in_turns, ratio
from course_lib.tune.groups import GroupRecord
from course_lib.tune.shares import Work

TOLERANCE = 1e-3  # of its largest value that a result may differ by: sums in another order
PROPOSED = 2  # groupings that are measured


@dataclass(frozen=True)
class Whole:
    """One model, ready to be compiled with other groups and other schedules.

    graph   as the pass `fuse` gets it; `after` are the passes from there on, `fuse` the first one
    arrays  the model's inputs
    """

    graph: Graph
    after: Sequence[Pass]
    arrays: Sequence[np.ndarray]
    threads: int | None

    @staticmethod
    def of(
        graph: Graph, passes: Sequence[Pass], arrays: Sequence[np.ndarray], threads: int | None
    ) -> Whole:
        """Run the passes before `fuse`; all of them, where `fuse` is not among them."""
        place = passes.index(fuse) if fuse in passes else len(passes)
        return Whole(run_passes(graph, passes[:place]), passes[place:], arrays, threads)

    def compiled(self, tuned: Tuned | None = None) -> CompiledModel:
        passes = list(self.after)
        if tuned and passes:
            passes[0] = fuse_as(tuned.groups_of)
        stages: list[Stage] = []

        def see(name: str, form: Any) -> None:
            stages.append(Stage(name, form))

        return generate(
            run_passes(self.graph, passes), see, stages, {}, self.threads, "host", tuned
        )

    def groups(self, tuned: Tuned) -> Groups | None:
        """Other groups than those of `fuse`, if any were found."""
        found = tuned.groups.get(key_of_graph(self.graph)) if self.after else None
        return found if found and found.groups else None

    def with_groups(self, tuned: Tuned, found: Groups) -> Tuned:
        return replace(tuned, groups={**tuned.groups, key_of_graph(self.graph): found})

    def in_turns(self, models: Sequence[CompiledModel], seconds: float) -> list[list[float]]:
        """Seconds of a call of each model, round after round."""
        return in_turns([partial(model.run, self.arrays) for model in models], seconds)

    def agrees(self, model: CompiledModel, wanted: Sequence[np.ndarray]) -> bool:
        """The same outputs but for the rounding of sums?"""
        return all(
            np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * float(np.abs(b).max(initial=0)))
            for a, b in zip(model.run(self.arrays), wanted, strict=True)
        )


def measured_groups(
    whole: Whole, tuned: Tuned, record: GroupRecord, default: CompiledModel, seconds: float
) -> Groups:
    """Of the groupings that the model finds cheaper than those of `fuse`, the fastest, if it wins
    by more than the noise. `seconds` of 0: the model decides alone."""
    first = record.candidates[0]
    best = Groups(None, tried=len(record.candidates))
    cheaper = [replace(best, groups=one.groups, predicted=(first.predicted, one.predicted))
               for one in record.cheapest(PROPOSED) if one.predicted < first.predicted]  # fmt: skip
    if not cheaper:
        return replace(best, why="no other groups are cheaper by the cost model")
    if not seconds:
        return cheaper[0]
    wanted = default.run(whole.arrays)
    for found in cheaper:
        model = whole.compiled(whole.with_groups(tuned, found))
        before, after = whole.in_turns([default, model], seconds / len(cheaper))
        found = replace(found, measured=(min(before), min(after)))
        if faster(before, after) and whole.agrees(model, wanted) and found.gain > best.gain:
            best = found
    return best if best.groups else replace(best, why="faster by less than the noise, if at all")


def checked(
    whole: Whole,
    tuned: Tuned,
    default: CompiledModel,
    work: Sequence[Work],
    seconds: float,
) -> tuple[Tuned, list[list[float]]]:
    """The schedules with which the whole model is faster in most rounds, and the rounds of both."""

    def gained(one: Work) -> float:
        before, after = tuned.kernels[one.key].measured
        return one.calls * (before - after) if before and after else 0.0

    kept = [w for w in work if w.key in tuned.kernels and tuned.kernels[w.key].schedule]
    kept.sort(key=lambda one: -gained(one))
    wanted = default.run(whole.arrays)
    while kept or whole.groups(tuned):
        only = _only(tuned, kept)
        model = whole.compiled(only)
        times = whole.in_turns([default, model], seconds)
        if ratio(*times) > 1 and whole.agrees(model, wanted):
            return only, times
        if not kept:
            break
        kept, seconds = kept[: len(kept) // 2], seconds / 2
    (alone,) = whole.in_turns([default], seconds / 4)
    tuned, groups = _only(tuned, []), whole.groups(tuned)
    if groups:
        tuned = whole.with_groups(tuned, replace(groups, groups=None, why=LOST))
    return tuned, [alone, alone]


LOST = "the model was no faster with it"


def _only(tuned: Tuned, kept: Sequence[Work]) -> Tuned:
    """Without the schedules of other kernels than these."""
    keys = {work.key for work in kept}
    entries = {
        key: entry if key in keys or not entry.schedule else replace(entry, schedule=None, why=LOST)
        for key, entry in tuned.kernels.items()
    }
    return replace(tuned, kernels=entries)
