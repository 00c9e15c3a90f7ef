"""All layers of a part of a model: one program of the chip, and the bytes in DRAM that it needs.

    made = build(part.graph, PRESETS["npu"])
    made.program      lda ... halt            made.run([x])   ->   [y]
    made.timing       clocks, stalls, bytes, without computing anything

Next room: `report.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.emit import Program
from course_lib.accelerator.compile.layer import (
    Choose,
    Dram,
    Layer,
    as_read,
    as_stored,
    lower_layer,
)
from course_lib.accelerator.compile.partition import cover
from course_lib.accelerator.compile.search import choose_tile
from course_lib.accelerator.compile.tokens import synchronize
from course_lib.accelerator.core.simulate import Run, simulate, times
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.isa_interp import interpret
from course_lib.accelerator.isa.state import State
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node


@dataclass(frozen=True, eq=False)
class ChipProgram:
    """A graph of ops of the chip as a program. `starts[k]` is the first instruction of layer k."""

    chip: Chip
    graph: Graph
    program: Program
    layers: tuple[Layer, ...]
    starts: tuple[int, ...]
    dram: Dram

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results, computed in the order of the program's text."""
        memory = self.filled(inputs)
        interpret(self.program, memory, self.chip)
        return [self._read(memory, node) for node in self.graph.outputs]

    def checked(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], Run]:
        """The same in the order in which the engines work, after a search for races."""
        memory = self.filled(inputs)
        run = simulate(self.program, memory, self.chip)
        run = Run(self.chip, self.program, run.times, run.state, self.useful)
        return [self._read(memory, node) for node in self.graph.outputs], run

    def filled(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """DRAM with constants and inputs."""
        memory = self.dram.image()
        for node, value in zip(self.graph.inputs, inputs, strict=True):
            at = self.dram.of(node)
            memory[at : at + value.size] = as_stored(value).ravel()
        return memory

    @cached_property
    def timing(self) -> Run:
        """Clocks and everything that follows from the program alone; its state is empty."""
        clocks = times(self.program, self.chip)
        state = State(self.chip, np.zeros(1, np.int8))
        return Run(self.chip, self.program, clocks, state, self.useful)

    @property
    def useful(self) -> dict[tuple[str, ...], int]:
        """The multiply-accumulates that the layers ask for; the array does more (zeros, ones)."""
        macs: Counter[tuple[str, ...]] = Counter()
        for layer in self.layers:
            macs[layer.program[0].origin] += layer.macs
        return dict(macs)

    def layer_clocks(self) -> list[int]:
        """Clocks of each layer: from when all before it was done until it is. They sum to the
        total; a layer that was begun behind the back of another one has fewer than alone."""
        done, ends, latest = self.timing.times.done, (*self.starts[1:], None), 0
        clocks = []
        for start, end in zip(self.starts, ends, strict=True):
            finished = max(latest, *done[start:end])
            clocks.append(finished - latest)
            latest = finished
        return clocks

    def _read(self, memory: np.ndarray, node: Node) -> np.ndarray:
        at = self.dram.of(node)
        return as_read(memory[at : at + node.type.numel], node.type)


def build(graph: Graph, chip: Chip, choose: Choose = choose_tile) -> ChipProgram:
    """The program of a graph whose ops all have a pattern of the chip; `choose` says the tile of
    each product."""
    matches, refusals = cover(graph)
    if refusals:
        raise ValueError(f"the chip cannot compute {refusals[0]}")
    dram = Dram()
    for node in graph.inputs:
        dram.of(node)
    layers, starts, program, known = [], [], [], cache(choose)  # equal layers: one search
    for match in matches:
        if match.pattern.name == "reshape":  # the same bytes at the same place
            dram.addresses[match.root] = dram.of(match.operands["x"])
            continue
        layers.append(lower_layer(match, dram, chip, known))
        starts.append(len(program))
        program += layers[-1].program
    for node in graph.outputs:
        dram.of(node)
    ready = [*synchronize(program, chip, max(dram.size, 1)), Halt()]
    return ChipProgram(chip, graph, ready, tuple(layers), tuple(starts), dram)
