"""Search trees of real layers, recorded: what a wide search saw, with the price of every kernel.

    LAYERS["64 → 64, 56 × 56"].price(())            ->  467950153.0 clocks, textbook loops
    LAYERS["64 → 64, 56 × 56"].successors(())       ->  [("inner: unroll(k1)",), ...]

A state is a tuple of decisions as text. The trees come from `course_lib/schedule/search` and the
prices from `course_lib/cost/nest.py`. The search that recorded them went on with the best states of
each kind of decision, as many as `WIDTHS` of makers.py says; other states have no successors here.
Lists that lead to a kernel seen before are left out. Next room: `luck.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.cost.machine import Machine
from course_lib.ir.graph.build import conv, inp
from course_lib.lower.lower import lower_node
from course_lib.recorded import read
from course_lib.schedule.search.problem import Problem

Place = tuple[str, ...]  # decisions as text
# The processor that this unit searches and prices for, wherever it runs, so that a search finds the
# same for everybody. Nothing here asks which processor is at hand; only the clock depends on it.
AVX2 = Machine("AVX2", vector_bytes=32, registers=16, threads=1, cache1=32 << 10, cache2=256 << 10)
SHAPES = {  # channels in and out, rows and columns out, rows and columns of the filter, stride
    "64 → 64, 56 × 56": (64, 64, 56, 3, 1),
    "128 → 128, 28 × 28": (128, 128, 28, 3, 1),
    "256 → 256, 14 × 14": (256, 256, 14, 3, 1),
    "512 → 512, 7 × 7": (512, 512, 7, 3, 1),
}


@dataclass(frozen=True)
class Landscape:
    """A tree of states. `tree` lists the successors as the compiler tries them; `prices` are
    clocks."""

    tree: Mapping[Place, Sequence[Place]]
    prices: Mapping[Place, float] = field(repr=False)

    def successors(self, state: Place) -> list[Place]:
        """In alphabetical order: the compiler's own order would give the best tiles away."""
        return sorted(self.tree.get(state, ()))

    def price(self, state: Place) -> float:
        return self.prices[state]

    @property
    def best(self) -> float:
        return min(self.prices.values())


def problem_of(shape: Sequence[int], machine: Machine = AVX2) -> Problem:
    """A convolution in textbook loops; its weights are constants."""
    before, after, size, taps, stride = shape
    reach = (size - 1) * stride + taps
    x = inp("x", f"f32[1,{before},{reach},{reach}]")
    w = inp("w", f"f32[{after},{before},{taps},{taps}]")
    kernel = lower_node(conv(x, w, strides=(stride, stride)), "conv")
    assert kernel
    return Problem(kernel, machine, frozenset({"x1"}))


def landscape(data: Mapping[str, Any]) -> Landscape:
    """The tree that was recorded."""
    states: list[Place] = [()]
    tree: dict[Place, list[Place]] = {}
    prices: dict[Place, float] = {(): float(data["start"])}
    for parent, last, clocks in data["rows"]:
        state = (*states[parent], data["decisions"][last])
        states.append(state)
        tree.setdefault(states[parent], []).append(state)
        prices[state] = float(clocks)
    return Landscape(tree, prices)


def load(path: Path) -> dict[str, Landscape]:
    found = read(path)
    return {name: landscape(found.data(name)) for name in found.texts}


LAYERS = load(Path(__file__).with_name("landscapes.txt"))
