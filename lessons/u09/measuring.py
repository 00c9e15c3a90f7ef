"""Unit 9 asks the clock: schedules of a layer, and ResNet-18 with schedules that a search found.

Next room: `wild.py`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from course_lib.compiler import read
from course_lib.cost.machine import Machine
from course_lib.cost.nest import CLOCK, predict
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.charts import scatter
from course_lib.draw.plots.figure import Plot
from course_lib.draw.plots.table import table
from course_lib.ir.arrays import aligned_empty
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.program import Program
from course_lib.llvm.host import host_machine
from course_lib.llvm.jit import compile_kernels, compile_program
from course_lib.lower.lower import lower
from course_lib.measure.turns import in_turns, least
from course_lib.memory.plan import plan
from course_lib.models import example_inputs
from course_lib.models.traced import traced
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.schedule import choose_once, schedule
from course_lib.schedule.search.beam import beam
from course_lib.schedule.search.problem import Budget, Candidate, Problem, Record, Timing, nameless
from lessons.u09.landscapes import AVX2
from lessons.u09.luck import DEPTH
from lessons.u09.searches import FIRST, layer, million, price, wide

TICKS = (0.5, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)  # ms, on logarithmic axes


@dataclass(frozen=True)
class Point:
    """A schedule and its seconds: by the cost model for AVX2 and for the processor `here`, and by
    the clock, `once` and `again` in other buffers. `unrolled`: its last two decisions unroll loops
    over the filter. `parts`: clocks that instructions and the two caches would take alone here."""

    decisions: str
    predicted: float
    here: float
    once: float
    again: float
    unrolled: bool
    parts: tuple[float, ...] = ()

    @property
    def measured(self) -> float:
        return min(self.once, self.again)


def times(kernels: Sequence[Kernel], rounds: int = 5, places: int = 3) -> list[float]:
    """The shortest of a few runs of each kernel on random numbers, in turns, on one thread. Where
    its buffers lie changes the time, so each kernel runs `rounds` times in each of `places`."""
    codes = [compile_kernels([kernel]) for kernel in kernels]
    best = [float("inf")] * len(kernels)
    for _ in range(places):
        runs = [_runner(code, kernel) for code, kernel in zip(codes, kernels, strict=True)]
        best = [min(pair) for pair in zip(best, least(in_turns(runs, rounds)), strict=True)]
    return best


def by_clock(kernels: Sequence[Kernel], _: Machine) -> list[Timing]:
    """`times`, in the form that a search takes."""
    return [Timing(seconds) for seconds in times(kernels)]


def _runner(code, kernel: Kernel) -> Callable[[], None]:
    rng = np.random.default_rng(0)
    arrays = [aligned_empty(b.type.dims, b.type.dtype.numpy) for b in kernel.params]
    for array in arrays:
        array[...] = rng.random(array.shape)
    places = [array.ctypes.data for array in arrays]

    def run() -> None:
        for function, count in code.functions[kernel.name]:
            function(*places, 0, count)
        assert arrays

    return run


def points(count: int = 24) -> list[Point]:
    """Schedules of the first layer that a beam of width 2 priced: the cheapest is among them, and
    none is hopeless. They are the same wherever this runs; only the clock differs."""
    record = wide(FIRST, 2)
    order = sorted((c for c in record.candidates if c.kernel and c.predicted),
                   key=lambda c: (c.predicted, c.number))  # fmt: skip
    order = [c for c in order if (c.predicted or 0) < 6 * (order[0].predicted or 0)]
    chosen = [order[k * len(order) // count] for k in range(min(count, len(order)))]
    kernels = [c.kernel for c in chosen if c.kernel]
    once, again = (times(kernels, rounds=6, places=2) for _ in range(2))
    here = host_machine(threads=1)
    prices = [predict(kernel, here) for kernel in kernels]
    return [Point("; ".join(map(str, c.decisions)), c.predicted or 0, p.seconds, s, t, _unrolled(c),
                  (p.instructions, p.cache1, p.cache2))
            for c, p, s, t in zip(chosen, prices, once, again, strict=True)]  # fmt: skip


def _unrolled(candidate: Candidate) -> bool:
    last = [str(decision) for decision in candidate.decisions[-2:]]
    return len(last) == 2 and all(text.startswith("unroll(k") for text in last)


def scatter_of(schedules: Sequence[Point]) -> Plot:
    """Each schedule twice: priced for AVX2 and for the processor at hand. On the line, model and
    clock agree."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for p in sorted(schedules, key=lambda p: not p.unrolled):
        group = "AVX2, filter unrolled" if p.unrolled else "AVX2, others"
        groups.setdefault(group, []).append((1e3 * p.predicted, 1e3 * p.measured))
    groups["this processor"] = [(1e3 * p.here, 1e3 * p.measured) for p in schedules]
    plot = scatter(groups, "cost model (ms)", "clock (ms)",
                   f"{FIRST}: schedules by model and by clock", log="xy")  # fmt: skip
    known = [1e3 * t for p in schedules for t in (p.here, p.predicted, p.measured)]
    ends = (0.9 * min(known), 1.1 * max(known))
    for axis in (plot.axes.xaxis, plot.axes.yaxis):
        axis.set_ticks([t for t in TICKS if ends[0] < t < ends[1]])
    plot.axes.set(xlim=ends, ylim=ends)
    plot.axes.axline((ends[0], ends[0]), (ends[1], ends[1]), color="gray", linewidth=1, zorder=0)
    return plot


def scatter_again(schedules: Sequence[Point]) -> str:
    """How far apart two measurements of the same code lie."""
    apart = [max(p.once, p.again) / min(p.once, p.again) - 1 for p in schedules]
    return f"two measurements of the same code lie {median(apart):.0%} apart in the median, " \
        f"{max(apart):.0%} at most"  # fmt: skip


def fitted_table(
    schedules: Sequence[Point],
    fitted: Callable[[np.ndarray, np.ndarray], Sequence[float]],
    enough: Callable[[Sequence[float], Sequence[float], float], int],
) -> Picture:
    """How well three models put schedules in order: the formula for AVX2 and for the processor at
    hand, and weights that were fitted to all schedules but the one that they price."""
    measured = [p.measured for p in schedules]
    models = {
        "the formula, for AVX2": [p.predicted for p in schedules],
        "the formula, for this processor": [p.here for p in schedules],
        f"your weights, from the {len(schedules) - 1} others": left_out(schedules, fitted),
    }
    rows = [[words, f"{in_order(model, measured):.0%}", enough(model, measured, 0.05)]
            for words, model in models.items()]  # fmt: skip
    return table(rows, ["model", "pairs in the right order", "schedules to measure for 5 %"])


def left_out(
    schedules: Sequence[Point], fitted: Callable[[np.ndarray, np.ndarray], Sequence[float]]
) -> list[float]:
    """The seconds of each schedule by weights that were fitted without it."""
    parts = np.array([p.parts for p in schedules])
    seconds = np.array([p.measured for p in schedules])
    weights = [fitted(np.delete(parts, k, 0), np.delete(seconds, k)) for k in range(len(parts))]
    return [float(np.dot(some, one)) for some, one in zip(weights, parts, strict=True)]


def in_order(model: Sequence[float], measured: Sequence[float]) -> float:
    """The share of pairs of schedules of which the model says rightly which one is faster."""
    pairs = [*itertools.combinations(zip(model, measured, strict=True), 2)]
    return sum((p - q) * (s - t) > 0 for (p, s), (q, t) in pairs) / len(pairs)


def chosen_table() -> Picture:
    """The default of the first layer, twice, the beam's schedule, and the same before the filter
    loops are unrolled: by the model and by the clock."""
    record = wide(FIRST, 2)
    path = [*reversed(record.path(record.best.number))]
    named = {"default": record.default, "the default again": record.default,
             "the beam's schedule": path[-1]}  # fmt: skip
    if len(path) > 2:
        named["the same before its last two decisions"] = path[-3]
    return both_ways(named)


def both_ways(named: Mapping[str, Candidate]) -> Picture:
    """Schedules by the model and by the clock, all of them measured in turns."""
    seconds = times([c.kernel for c in named.values() if c.kernel], rounds=16, places=5)
    rows = [[words, million((c.predicted or 0) * CLOCK), 1e3 * s]
            for (words, c), s in zip(named.items(), seconds, strict=True)]  # fmt: skip
    return table(rows, ["schedule", "cost model (million clocks)", "clock (ms)"])


def clock_table() -> Picture:
    """A beam that measures what the model proposes, beside one that asks only the model."""
    asked = beam(layer(), Budget(priced=150, measured=24), price, by_clock, width=2, depth=DEPTH)
    named = {"default": asked.default, "by the model": wide(FIRST, 2).best,
             f"by the clock ({asked.measured} measured)": asked.best}  # fmt: skip
    return both_ways(named)


# ── ResNet-18 ──


class ResNet:
    """ResNet-18, compiled with the default schedules and with those of a search, on one thread.

    The schedules are for `AVX2` wherever this runs, so that their prices are the same for everyone.
    """

    def __init__(self) -> None:
        self.inputs = example_inputs("resnet18")
        self.graph = run_passes(read(traced("resnet18"), self.inputs), DEFAULT)
        self.program, self.memory = plan(lower(everywhere(self.graph, decompose)))
        self.default = schedule(self.program, AVX2)
        self.searched: dict[str, Record] = {}

    def chosen(self, width: int, priced: int, most: int) -> Program:
        """Searched schedules for the kernels that take the most clocks, `priced` for each."""
        calls = Counter(nameless(s.kernel) for s in self.default.steps if s.kernel)
        costs: dict[str, float] = {}
        for before, after in zip(self.program.steps, self.default.steps, strict=True):
            if before.kernel and after.kernel:
                count = calls[nameless(after.kernel)]
                costs[nameless(before.kernel)] = count * price(after.kernel, AVX2).clocks
        dearest = sorted(costs, key=lambda text: -costs[text])[:most]

        def chooser(kernel: Kernel, machine: Machine, constants: frozenset[str]) -> Kernel:
            text = nameless(kernel)
            if text not in dearest:
                return choose_once(kernel, machine, constants)
            searched = beam(Problem(kernel, machine, constants), Budget(priced=priced), price,
                            width=width, depth=DEPTH)  # fmt: skip
            self.searched[text] = searched
            assert searched.best.kernel
            return searched.best.kernel

        return schedule(self.program, AVX2, chooser)

    def run(self, program: Program) -> Callable[[], list[np.ndarray]]:
        code = compile_program(program, "host", 1)
        model = CompiledModel(self.graph, program, self.memory, code, [], {})
        return lambda: model.run(self.inputs)


def clocks_of(program: Program) -> float:
    """By the cost model, all kernels one after another."""
    return sum(price(step.kernel, AVX2).clocks for step in program.steps if step.kernel)


def resnet_table(net: ResNet, tuned: Program) -> Picture:
    """Clocks by the cost model and milliseconds by the clock; and whether the results agree."""
    runs = [net.run(net.default), net.run(tuned)]
    one, other = (run()[0] for run in runs)
    assert np.allclose(one, other, rtol=1e-3, atol=1e-3), "a schedule changed the result"
    rows = [[words, million(clocks_of(program)), 1e3 * best] for words, program, best in
            zip(("default", "your beam"), (net.default, tuned), least(in_turns(runs, 16)),
                strict=True)]  # fmt: skip
    return table(rows, ["ResNet-18, one thread", "cost model (million clocks)", "clock (ms)"])
