"""A warp, instruction by instruction: where it is, which lanes are active, what each of them got.

    watch = FirstWarp(most=40)
    launch(entry, grid, block, arguments, watches=[watch])
    steps(entry, watch)          a stepper

Next room: `pages.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.gpu.ptx.liveness import results
from course_lib.gpu.ptx.parts import Entry
from course_lib.gpu.ptx.types import TYPES
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.memory import Memory
from course_lib.gpu.simt.wave import Shape, Watch

AROUND = 4  # lines that are shown before and behind
IN_A_ROW = 8  # values


@dataclass(frozen=True)
class Done:
    """One instruction of a warp. `values` are of the registers that it wrote, for 32 lanes."""

    number: int
    lanes: Array
    values: dict[str, Array]


class FirstWarp(Watch):
    """The first instructions of warp 0 of block 0, at most so many."""

    stepping = True

    def __init__(self, most: int = 100) -> None:
        self.most = most

    def begin(self, kernel: Kernel, shape: Shape, memories: dict[str, Memory]) -> None:
        self.kernel, self.found = kernel, []

    def instruction(self, frame: Frame, number: int) -> None:
        if len(self.found) == self.most or frame.warps[0] or frame.wave.block_numbers[0]:
            return
        lanes = np.ones(LANES, bool) if frame.lanes is None else frame.lanes[:, 0].copy()
        if not lanes.any():
            return
        i = self.kernel.entry.instructions[number]
        values = {name: np.broadcast_to(frame[name], frame.shape)[:, 0].copy()
                  for name in results(i)}  # fmt: skip
        self.found.append(Done(number, lanes, values))


def steps(entry: Entry, watch: FirstWarp) -> Picture:
    """Walk through what the first warp did. ValueError if it did nothing."""
    states = [(f"line {entry.instructions[d.number].line}", _told(entry, d)) for d in watch.found]
    return stepper(states, f"{entry.name}: warp 0 of block 0, step by step", compare=False)


def _told(entry: Entry, done: Done) -> str:
    """The text around the instruction, the active lanes, and what they got."""
    text = entry.instructions
    lines = []
    for n in range(max(0, done.number - AROUND), min(len(text), done.number + AROUND + 1)):
        lines.append(f"{'→' if n == done.number else ' '} {text[n].line:>5}  {text[n]}")
    lines += ["", "lanes  " + "".join("█" if lane else "·" for lane in done.lanes)]
    i = text[done.number]
    for name, values in done.values.items():
        lines += ["", *_row(name, _typed(values, i.types[:1]), done.lanes)]
    return "\n".join(lines)


def _typed(values: Array, types: tuple) -> Array:
    """The bits of a register as the instruction means them."""
    if types and types[0].bits == values.dtype.itemsize * 8 and values.dtype != bool:
        kind = types[0].numpy if types[0].kind in "suf" else TYPES[f"u{types[0].bits}"].numpy
        return values.view(kind) if kind.itemsize == values.dtype.itemsize else values
    return values


def _row(name: str, values: Array, lanes: Array) -> list[str]:
    """Eight lanes in a row; one value where all active lanes have the same."""
    active = values[lanes]
    if len(active) and (active == active[0]).all():
        return [f"{name} = {_short(active[0])} in all of them"]
    words = [_short(value) if on else "·" for value, on in zip(values, lanes, strict=True)]
    wide = max(map(len, words))
    return [
        f"{name + ' =' if k == 0 else '':<8}lane {k:>2}: "
        + "  ".join(word.rjust(wide) for word in words[k : k + IN_A_ROW])
        for k in range(0, LANES, IN_A_ROW)
    ]


def _short(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)
