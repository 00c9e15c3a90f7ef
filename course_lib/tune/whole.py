"""Whole models against each other: what was found for the parts has to gain there.

    convolutions      by Winograd, where that pays; compiled, they take turns with the default
    groups of nodes   those that the cost model likes, in the same way
    schedules         all of them at first; where the model does not win, the half that gained least
                      is given up, and so on: at worst, the default is left

A kernel alone finds other things in the caches than it does in its model, so what won alone may not
win here. Next room: `tune.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from course_lib.cost.layout import winograd_pays
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.measure.duel import faster, ratio
from course_lib.measure.turns import for_seconds
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import Grouping, key_of_graph
from course_lib.passes.infra.manager import Pass, run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.winograd import can
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.search.choice import Choice, Names, Value
from course_lib.schedule.search.tuned import Tuned
from course_lib.targets.cpu import TARGET as CPU
from course_lib.targets.target import Log, Options
from course_lib.targets.tuned import passes_with
from course_lib.tune.groups import GroupRecord
from course_lib.tune.shares import Work

TOLERANCE = 1e-3  # of its largest value that a result may differ by: sums in another order
PROPOSED = 2  # groupings that are measured


@dataclass(frozen=True)
class Whole:
    """One model, ready to be compiled with other choices: `graph` as the first pass gets it, and
    the model's inputs."""

    graph: Graph
    passes: Sequence[Pass]
    arrays: Sequence[np.ndarray]
    threads: int | None

    def compiled(self, tuned: Tuned | None = None) -> CompiledModel:
        options = Options(passes_with(self.passes, tuned), threads=self.threads, tuned=tuned)
        graph = run_passes(self.graph, options.passes)
        return CPU.executable(graph, options, Log())

    def at(self, wanted: Pass, tuned: Tuned | None = None) -> Graph | None:
        """The graph as the pass `wanted` gets it; None where it is not among the passes."""
        if wanted not in self.passes:
            return None
        return run_passes(self.graph, passes_with(self.passes[: self.passes.index(wanted)], tuned))

    def in_turns(self, models: Sequence[CompiledModel], seconds: float) -> list[list[float]]:
        """Seconds of a call of each model, round after round."""
        return for_seconds([partial(model.run, self.arrays) for model in models], seconds)

    def agrees(self, model: CompiledModel, wanted: Sequence[np.ndarray]) -> bool:
        """The same outputs but for the rounding of sums?"""
        return all(
            np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * float(np.abs(b).max(initial=0)))
            for a, b in zip(model.run(self.arrays), wanted, strict=True)
        )

    def fastest(
        self, base: CompiledModel, choices: Sequence[tuple[Choice[Value], Tuned]], seconds: float
    ) -> Choice[Value] | None:
        """Of these choices, each with what the model is compiled with then, the one that gains most
        against `base`; None: none by more than the noise."""
        wanted, best = base.run(self.arrays), None
        for choice, tuned in choices:
            model = self.compiled(tuned)
            before, after = self.in_turns([base, model], seconds / len(choices))
            choice = replace(choice, measured=(min(before), min(after)))
            wins = faster(before, after) and self.agrees(model, wanted)
            if wins and (best is None or choice.gain > best.gain):
                best = choice
        return best


def measured_convolutions(whole: Whole, tuned: Tuned, base: CompiledModel, seconds: float) -> Tuned:
    """Those that Winograd computes: where it pays by the cost model, or wherever it can; the faster
    of both, if it wins. `seconds` of 0: the model decides alone."""
    graph = whole.at(layout)
    assert graph is not None
    names = value_names(graph)
    able = [node for node in graph.ops if can(node)]
    paying = [node for node in able if winograd_pays(node)]
    sets = {tuple(names[node] for node in some): None for some in (paying, able) if some}
    if not sets:
        return tuned.with_convolutions(graph, Choice(None, why="there is none for Winograd"))
    choices = [Choice(some, tried=len(sets)) for some in sets]
    fastest = choices[0] if paying else None
    if seconds:
        pairs = [(choice, tuned.with_convolutions(graph, choice)) for choice in choices]
        fastest = whole.fastest(base, pairs, seconds)
    lost = Choice[Names](None, tried=len(sets), why=NOISE)
    return tuned.with_convolutions(graph, fastest or lost)


def measured_groups(
    whole: Whole, tuned: Tuned, record: GroupRecord, base: CompiledModel, seconds: float
) -> Tuned:
    """Of the groupings that the model finds cheaper than those of `fuse`, the fastest, if it wins
    by more than the noise. `seconds` of 0: the model decides alone."""
    graph = whole.at(fuse, tuned)
    assert graph is not None
    first, tried = record.candidates[0], len(record.candidates)
    cheaper = [Choice(one.groups, (first.predicted, one.predicted), tried=tried)
               for one in record.cheapest(PROPOSED) if one.predicted < first.predicted]  # fmt: skip
    fastest = cheaper[0] if cheaper else None
    if fastest and seconds:
        pairs = [(one, tuned.with_groups(graph, one)) for one in cheaper]
        fastest = whole.fastest(base, pairs, seconds)
    why = NOISE if cheaper else "no other groups are cheaper by the cost model"
    return tuned.with_groups(graph, fastest or Choice[Grouping](None, tried=tried, why=why))


def checked(
    whole: Whole,
    tuned: Tuned,
    default: CompiledModel,
    work: Sequence[Work],
    seconds: float,
) -> tuple[Tuned, list[list[float]]]:
    """The choices with which the whole model is faster in most rounds, and the rounds of both."""

    def gained(one: Work) -> float:
        before, after = tuned.kernels[one.key].measured
        return one.calls * (before - after) if before and after else 0.0

    kept = [w for w in work if w.key in tuned.kernels and tuned.kernels[w.key].value]
    kept.sort(key=lambda one: -gained(one))
    plain = _plain(whole, tuned)
    wanted = default.run(whole.arrays)
    while kept or plain != tuned:
        only = _only(tuned, kept)
        model = whole.compiled(only)
        times = whole.in_turns([default, model], seconds)
        if ratio(*times) > 1 and whole.agrees(model, wanted):
            return only, times
        if not kept:
            break
        kept, seconds = kept[: len(kept) // 2], seconds / 2
    (alone,) = whole.in_turns([default], seconds / 4)
    return _only(plain, []), [alone, alone]


NOISE = "faster by less than the noise, if at all"
LOST = "the model was no faster with it"


def _plain(whole: Whole, tuned: Tuned) -> Tuned:
    """With the groups and the convolutions of the default."""
    at_fuse, at_layout = whole.at(fuse, tuned), whole.at(layout)
    if at_fuse and tuned.groups_of(at_fuse):
        tuned = tuned.with_groups(at_fuse, _given_up(tuned.groups[key_of_graph(at_fuse)]))
    if at_layout and tuned.convolutions_of(at_layout):
        choice = tuned.convolutions[key_of_graph(at_layout)]
        tuned = tuned.with_convolutions(at_layout, _given_up(choice))
    return tuned


def _only(tuned: Tuned, kept: Sequence[Work]) -> Tuned:
    """Without the schedules of other kernels than these."""
    keys = {work.key for work in kept}
    kernels = {key: choice if key in keys or not choice.value else _given_up(choice)
               for key, choice in tuned.kernels.items()}  # fmt: skip
    return replace(tuned, kernels=kernels)


def _given_up(choice: Choice[Value]) -> Choice[Value]:
    return replace(choice, value=None, why=LOST)
