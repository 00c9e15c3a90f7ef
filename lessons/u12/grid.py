"""Clocks and traces of a weight-stationary grid, made by level 0 of the library.

    trace(a, b, array, Fault(9, "stay", 1, 2, 5))          every clock of a product, with a fault
    multiplied(clock, a, b)                                a product, clocked by an answer

Next room: `tables.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from course_lib.accelerator.array.dataflow import tiles
from course_lib.accelerator.array.registers import BUSY, SHIFT, after, empty, feed_of
from course_lib.accelerator.systolic import SystolicArray

Three = tuple[np.ndarray, np.ndarray, np.ndarray]
NAMES = ("right", "down", "stay")


class Trace(NamedTuple):
    """Registers [clocks, rows, cols] after each clock, and what entered in it."""

    right: np.ndarray
    down: np.ndarray
    stay: np.ndarray
    shift: np.ndarray
    enters: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Fault:
    """In this clock (from 1), this register of this cell takes a value that is too large."""

    clock: int
    register: str
    row: int
    col: int
    by: int = 1


def trace(a: np.ndarray, b: np.ndarray, array: SystolicArray, *faults: Fault) -> Trace:
    """Every clock of [m, k] x [k, n] on a weight-stationary array without shadow registers."""
    feed = feed_of(*tiles(a, b, array))
    feed.control[:] |= BUSY  # a cell multiplies whatever stands there, as the exercise says
    held, states = empty(feed, array), []
    held.control[:] |= BUSY
    for number in range(1, feed.counted + 1):
        held = after(held, feed, array)
        for fault in faults:
            if fault.clock == number:
                getattr(held, fault.register)[fault.row, fault.col] += fault.by
        states.append(held)
    right, down, stay = (np.array([getattr(held, name) for held in states]) for name in NAMES)
    shift = np.array([(held.control & SHIFT) != 0 for held in states])
    return Trace(right, down, stay, shift, feed.right[: feed.counted], feed.load[: feed.counted])


def multiplied(clock: Callable[..., Three], a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, int]:
    """`a` [m, k] times `b` [k, n] in one fold on k x n cells, by `clock`; and the clocks."""
    (rows, cols), time = b.shape, len(a)
    given = trace(a, b, SystolicArray(rows, cols, dataflow="ws"))
    held: Three = tuple(np.zeros((rows, cols), given.right.dtype) for _ in NAMES)  # type: ignore
    bottom = []
    for shift, enters, weights in zip(given.shift, given.enters, given.weights, strict=True):
        right, down, stay = clock(*held, shift, enters, weights)
        held = np.asarray(right), np.asarray(down), np.asarray(stay)
        bottom.append(held[1][-1])
    return leaving(np.array(bottom), rows, time), len(bottom)


def leaving(bottom: np.ndarray, rows: int, time: int) -> np.ndarray:
    """The results of one fold from what the lowest row's `down` held after each clock."""
    cols = np.arange(bottom.shape[1])
    return bottom[2 * rows - 1 + np.arange(time)[:, None] + cols, cols]


def planted(seed: int, size: int = 3) -> tuple[Trace, Fault, Fault]:
    """A random product with two faults, on an array of at most `size` x `size`. Even seeds make
    products of one fold, which are the smallest to look at; in every third trace, the second fault
    takes back what the first one added."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(1, size + 1, 2).tolist()
    k, n = rng.integers(1, (2 * size, 2 * size) if seed % 2 else (rows + 1, cols + 1)).tolist()
    a = rng.integers(-9, 10, (int(rng.integers(2, 5)), k))
    b = rng.integers(-9, 10, (k, n))
    array = SystolicArray(rows, cols, dataflow="ws")
    last = len(trace(a, b, array).right)
    clocks = (1, 2) if seed % 5 == 4 else sorted((rng.choice(last, 2, replace=False) + 1).tolist())
    first, second = (
        Fault(clock, NAMES[rng.integers(3)], int(rng.integers(rows)), int(rng.integers(cols)),
              int(rng.choice((-300, -2, -1, 1, 2, 300))))
        for clock in clocks
    )  # fmt: skip
    if seed % 3 == 2:
        second = replace(first, clock=second.clock, by=-first.by)
    return trace(a, b, array, first, second), first, second


@dataclass(frozen=True, eq=False)
class Broken:
    """A trace with faults, the product that was due, and the one that left the chip."""

    trace: Trace
    due: np.ndarray
    got: np.ndarray


def overwritten() -> Broken:
    """A wrong sum, and a weight that is overwritten before its last use."""
    a, b = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[1, 4], [3, 1]])
    faults = Fault(4, "down", 0, 0, 2), Fault(5, "stay", 0, 1, 5)
    given = trace(a, b, SystolicArray(2, 2, dataflow="ws"), *faults)
    return Broken(given, a @ b, leaving(given.down[:, -1], 2, len(a)))


def shown_fault(right: Trace, wrong: Trace, first: int) -> str:
    """The registers of the wrong trace from a clock on, row by row; ! where the other differs."""
    lines = []
    for number in range(first - 1, len(right.right)):
        pairs = [(name, *(getattr(t, name)[number] for t in (right, wrong))) for name in NAMES]
        parts = (f"{name} {' / '.join(map(_marked, due, got))}" for name, due, got in pairs)
        lines.append(f"clock {number + 1:>2}   " + "    ".join(parts))
    return "\n".join(lines)


def _marked(right: np.ndarray, wrong: np.ndarray) -> str:
    return " ".join(f"{w:>2}{' ' if w == r else '!'}" for r, w in zip(right, wrong, strict=True))
