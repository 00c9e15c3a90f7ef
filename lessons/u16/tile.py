"""Triton's language on numpy: a kernel runs program by program, and every byte is counted.

    run = launch(SOFTMAX, "softmax", 3, x.shape, x, 781, 1024)      three programs
    run.out                           the result
    run.loaded, run.stored            numbers that moved
    run.lanes, run.idle               lanes of loads and stores, and the share that a mask left out

A load or a store outside of its array is an error here; on a GPU it is silent. A lane that a mask
leaves out, and that has no `other`, is NaN here; on a GPU it is undefined. Next room:
`relax.py`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lessons.u16.texts import call, functions

SOFTMAX = """\
def softmax(out, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    v = tl.load(x + row * n + cols, mask=inside, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * n + cols, e / tl.sum(e, 0), mask=inside)
"""


@dataclass
class Pointer:
    """Addresses in an array: one number or many."""

    name: str
    array: np.ndarray
    at: Any = 0

    def __add__(self, more: Any) -> Pointer:
        if np.asarray(more).dtype.kind not in "iu":
            raise ValueError(f"`{self.name}` moves by whole numbers")
        return Pointer(self.name, self.array, self.at + more)

    __radd__ = __add__

    def __sub__(self, less: Any) -> Pointer:
        return self + -np.asarray(less)


@dataclass
class Run:
    """What a launch did. Numbers are f32, so four bytes each."""

    out: np.ndarray
    loaded: int = 0
    stored: int = 0
    lanes: int = 0
    times: np.ndarray = field(default_factory=lambda: np.zeros(0, int))  # stores of each element

    @property
    def idle(self) -> float:
        """The share of lanes of loads and stores that a mask left out."""
        return 1 - (self.loaded + self.stored) / self.lanes if self.lanes else 0.0


class Tile:
    """The room `tl`, for one program. Its functions are methods of blocks, too."""

    methods = True
    constexpr = "constexpr"
    float32, int32 = np.float32, np.int32

    def __init__(self, number: int, run: Run):
        self._number, self._run = number, run

    def program_id(self, axis: int = 0) -> int:
        if axis:
            raise ValueError("this grid has axis 0 only")
        return self._number

    def arange(self, start: int, end: int) -> np.ndarray:
        size = end - start
        if size < 1 or size & (size - 1) or size > 1 << 16:
            raise ValueError(f"arange has a power of two of numbers, not {size}")
        return np.arange(start, end)

    def load(self, pointer: Any, mask: Any = None, other: Any = None) -> np.ndarray:
        at, wanted = self._lanes(pointer, mask, "load")
        self._run.loaded += int(wanted.sum())
        missing = np.float32(np.nan if other is None else other)
        return np.where(wanted, pointer.array[np.where(wanted, at, 0)], missing)

    def store(self, pointer: Any, value: Any, mask: Any = None) -> None:
        at, wanted = self._lanes(pointer, mask, "store")
        if pointer.array is not self._run.out:
            raise ValueError(f"`{pointer.name}` is an input, and this stores to it")
        self._run.stored += int(wanted.sum())
        np.add.at(self._run.times, at[wanted], 1)
        pointer.array[at[wanted]] = np.broadcast_to(value, at.shape)[wanted]

    def _lanes(self, pointer: Any, mask: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
        if not isinstance(pointer, Pointer):
            raise ValueError(f"{what} takes a pointer, as in `x + cols`")
        at = np.asarray(pointer.at)
        if mask is not None and np.asarray(mask).dtype != bool:
            raise ValueError("a mask is a comparison, as in `cols < n`")
        wanted = np.broadcast_to(True if mask is None else mask, at.shape)
        bad = wanted & ((at < 0) | (at >= pointer.array.size))
        if bad.any():
            where = f"element {int(at[bad].min())} of {pointer.name}, which has"
            raise ValueError(f"this {what} touches {where} {pointer.array.size}")
        self._run.lanes += at.size
        return at, wanted

    def exp(self, x: Any) -> Any:
        return np.exp(x)

    def sqrt(self, x: Any) -> Any:
        return np.sqrt(x)

    def rsqrt(self, x: Any) -> Any:
        return np.float32(1) / np.sqrt(x)

    math_exp, math_sqrt, math_rsqrt = exp, sqrt, rsqrt

    def abs(self, x: Any) -> Any:
        return np.abs(x)

    def maximum(self, x: Any, y: Any) -> Any:
        return np.maximum(x, y)

    def minimum(self, x: Any, y: Any) -> Any:
        return np.minimum(x, y)

    def sum(self, x: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
        kind = None if np.asarray(x).dtype.kind == "b" else x.dtype
        return np.sum(x, axis=axis, dtype=kind, keepdims=keep_dims)

    def max(self, x: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
        return np.max(x, axis=axis, keepdims=keep_dims)

    def cast(self, x: Any, dtype: Any) -> Any:
        if dtype not in (np.float32, np.int32):
            raise ValueError("a cast is to `tl.float32` or `tl.int32` here")
        return np.asarray(x).astype(dtype)

    to = cast

    def where(self, mask: Any, x: Any, y: Any) -> Any:
        return np.where(mask, x, y).astype(np.result_type(x, y), copy=False)


def launch(source: str, name: str, grid: int, shape: tuple[int, ...], x: np.ndarray,
           *sizes: int) -> Run:  # fmt: skip
    """Run `name(out, x, *sizes)` for each program of the grid; ValueError in words."""
    _sizes_are_known(functions(source).get(name))
    run = Run(np.full(int(np.prod(shape)), np.nan, np.float32))
    run.times = np.zeros(run.out.size, int)
    flat = np.ascontiguousarray(x, np.float32).reshape(-1)
    for number in range(grid):
        given = [Pointer("out", run.out), Pointer("x", flat), *sizes]
        try:
            call(source, name, given, {"tl": Tile(number, run)})
        except ValueError as error:
            raise ValueError(f"program {number} of {grid}: {error}") from None
    run.out = run.out.reshape(shape)
    return run


def _sizes_are_known(kernel: ast.FunctionDef | None) -> None:
    """ValueError if the size of a block comes from a parameter that is no `tl.constexpr`: Triton
    compiles the kernel for one size of each block, so it has to know them."""
    if kernel is None:
        return
    later = {one.arg for one in kernel.args.args
             if not ast.unparse(one.annotation or ast.Constant(0)).strip("'").endswith("constexpr")
             }  # fmt: skip
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and _names(node.value) & later:
            later |= _names(node.targets[0])
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "tl.arange":
            for name in sorted(_names(node) & later):
                raise ValueError(f"line {node.lineno}: the numbers of arange must be "
                                 f"`tl.constexpr`, and `{name}` is none")  # fmt: skip


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
