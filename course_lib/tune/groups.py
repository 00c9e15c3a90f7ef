"""Which nodes share a kernel: beam search over the groups of a graph, with the heuristic's first.

    found = search_groups(graph, machine, width=4, depth=3)
    found.best.groups                   # a grouping (`passes/fusion/regroup.py`)
    found.best.predicted                # seconds of the whole graph, by the cost model

A grouping costs what its kernels cost, each with its default schedule. Most kernels are in most
groupings, so each is lowered, scheduled and priced once. The model proposes; whole models are
measured in `whole.py`. Next room: `whole.py`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from course_lib.cost.machine import Machine
from course_lib.cost.nest import predict
from course_lib.cost.work import worth_a_thread
from course_lib.ir.graph.graph import Graph
from course_lib.lower.lower import lower_node
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import Group, Grouping, Regrouping
from course_lib.schedule.schedule import choose_once
from course_lib.schedule.search.beam import DEPTH, WIDTH, beam_search
from course_lib.schedule.search.problem import Price
from course_lib.schedule.search.tuned import key_of


@dataclass(frozen=True)
class Grouped:
    """A grouping that was tried. Number 0 is the one of `fuse`; `predicted` is in seconds."""

    number: int
    groups: Grouping
    predicted: float


@dataclass(frozen=True)
class GroupRecord:
    """What a search over groups did: why it `stopped`, and how many `kernels` were priced."""

    candidates: tuple[Grouped, ...]
    kernels: int
    stopped: str
    seconds: float = field(compare=False)

    @property
    def best(self) -> Grouped:
        return self.cheapest(1)[0]

    def cheapest(self, count: int) -> list[Grouped]:
        """By the cost model; of equal ones the first."""
        return sorted(self.candidates, key=lambda one: (one.predicted, one.number))[:count]


def search_groups(
    graph: Graph,
    machine: Machine,
    width: int = WIDTH,
    depth: int = DEPTH,
    seconds: float = math.inf,
    price: Price = predict,
) -> GroupRecord:
    """Beam search: one cut or one join more in each round.

    graph    as `fuse` would get it
    width    how many groupings go on after a round; depth: how many rounds there are
    seconds  then the search ends with what it has, as it does at Ctrl-C

    The same every time, if the seconds suffice.
    """
    start, regrouping = time.perf_counter(), Regrouping(graph)
    prices = _Prices(regrouping, machine, price)
    tried: list[Grouped] = []

    def priced(grouping: Grouping) -> float:
        if tried and time.perf_counter() - start > seconds:
            raise TimeoutError
        tried.append(Grouped(len(tried), grouping, prices.whole(grouping)))
        return tried[-1].predicted

    first, stopped = regrouping.groups_of(fuse(graph)), "complete"
    try:
        beam_search(first, lambda one: [*regrouping.steps(one)], priced, width, depth)
    except TimeoutError:
        stopped = f"budget: {seconds:g} seconds"
    except KeyboardInterrupt:
        stopped = "interrupted"
    tried = tried or [Grouped(0, first, math.inf)]
    return GroupRecord(tuple(tried), len(prices.of_kernel), stopped, time.perf_counter() - start)


@dataclass
class _Prices:
    """Seconds of groups, and of their kernels: different groups may become the same kernel."""

    regrouping: Regrouping
    machine: Machine
    price: Price
    of_group: dict[Group, float] = field(default_factory=dict)
    of_kernel: dict[str, float] = field(default_factory=dict)

    def whole(self, grouping: Grouping) -> float:
        return sum(self.group(group) for group in self.regrouping.kernels(grouping))

    def group(self, group: Group) -> float:
        if group not in self.of_group:
            self.of_group[group] = self._computed(group)
        return self.of_group[group]

    def _computed(self, group: Group) -> float:
        """0 where no kernel is: a view, or an op that numpy computes in every grouping."""
        node = self.regrouping.kernel(group)
        kernel = None if node.op in ("reshape", "scan") else lower_node(node, "kernel")
        if kernel is None:
            return 0.0
        fixed = frozenset(f"x{k}" for k, x in enumerate(node.inputs) if x.op == "constant")
        key = key_of(kernel, fixed)
        if key not in self.of_kernel:
            count = self.machine.threads if worth_a_thread(node) else 1
            scheduled = choose_once(kernel, self.machine, fixed)
            on = replace(self.machine, threads=count)
            self.of_kernel[key] = self.price(scheduled, on).seconds
        return self.of_kernel[key]
