"""Programs in the NPU dialect, as checks write them, all for a chip of 4 x 4 cells or larger.

    straight()       programs without loops that load, multiply and store in any order
    tile(4, 8)       the type of a tile in acts

What needs xDSL is imported where it is used: it need not be installed.
Next room: tiles.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Crashed, Unusable, Wrong
from autograder.check.modules import as_text

DEPTH, COLS = 4, 4
ROWS, COLUMNS = 12, 8  # of the arrays x, z and y


def result(
    call: Callable[[], Any], called: str, form: str, valid: str
) -> tuple[Any, Callable[..., Wrong]]:
    """The module that an answer returned, and what to raise about it: Wrong, which shows the whole
    call, so that it can be repeated, and the module. `form` and `valid` are the sentences for what
    is no text, and for a text that is no valid module."""
    from lessons.u11.chip import brief
    from lessons.u11.dialect import parsed

    try:
        text = as_text(call(), called, form)
        return parsed(text), partial(Wrong, program=called, got=brief(text))
    except Unusable as error:  # a module, most likely
        raise Wrong("The function must return the text of a module.", program=called,
                    got=str(error).rpartition("plain data. ")[2], expected="a str",
                    spec=form) from None  # fmt: skip
    except Crashed as error:
        error.program = called
        raise
    except ValueError as error:
        raise Wrong(f"The result is not valid: {error}".rstrip(".") + ".", program=called,
                    got=text, spec=valid) from None  # fmt: skip


def parameter(array: Any) -> int:
    """Which parameter of the function an array is; -1 for what is none."""
    return getattr(array, "index", -1)


@lru_cache(maxsize=256)
def wanted(text: str) -> tuple[list[Any], list[np.ndarray]]:
    """The chip of a program and the types of its arrays, and what it leaves in them."""
    from lessons.u11.dialect import parsed
    from lessons.u11.meaning import left

    module = parsed(text)
    return _frame(module), left(module)


def _frame(module: Any) -> list[Any]:
    """What a pass may not change: the chip, and the types of the parameters."""
    from course_lib.mlir.npu.machine import chip_of
    from lessons.u11.meaning import arrays_of

    return [chip_of(module), *arrays_of(module)]


def same_contents(wrong: Callable[..., Wrong], text: str, module: Any, spec: str) -> None:
    """Both programs leave the same in all arrays, whatever the chip held before."""
    from lessons.u11.meaning import left

    frame, right = wanted(text)
    for garbage in (-86, 99):
        try:
            mine = _frame(module)
            contents = left(module, garbage=garbage) if mine == frame else []
        except ValueError as error:
            raise wrong(f"The result cannot be run: {error}".rstrip(".") + ".",
                        spec=spec) from None  # fmt: skip
        if mine != frame:
            raise wrong("The module must keep its chip, and the function its parameters.",
                        spec=spec)  # fmt: skip
        for number, (one, two) in enumerate(zip(contents, right, strict=True)):
            if not np.array_equal(one, two):
                at = tuple(int(i) for i in np.argwhere(one != two)[0])
                raise wrong(f"Element {list(at)} of parameter {number} is {one[at]} afterwards, "
                            f"but must be {two[at]}.", spec=spec)  # fmt: skip


def memref(sizes: str, kind: str, space: str, layout: str = "") -> str:
    return f"memref<{sizes}x{kind}, {layout}#npu.space<{space}>>"


def module(parameters: dict[str, str], *lines: str, chip: str = '{preset = "teaching"}') -> str:
    """A module as xDSL prints it, with one function."""
    given = ", ".join(f"%{name}: {type}" for name, type in parameters.items())
    body = "".join(f"    {line}\n" for line in lines)
    return (f"builtin.module attributes {{npu.chip = {chip}}} {{\n  func.func @f({given}) {{\n"
            f"{body}    func.return\n  }}\n}}\n")  # fmt: skip


X = memref(f"{ROWS}x{DEPTH}", "i8", "dram")
W = memref(f"{DEPTH}x{COLUMNS}", "i8", "dram", f"#npu.panels<{COLS}>, ")
Y = memref(f"{ROWS}x{COLUMNS}", "i32", "dram")
ARRAYS = {"x": X, "w": W, "y": Y, "z": X}
SPACES = {"a": ("acts", "i8", 4, DEPTH), "b": ("weights", "i8", DEPTH, COLS),
          "s": ("accs", "i32", 4, COLS)}  # fmt: skip


class Writer:
    """Lines of a program, and how many rows the contents of each buffer have."""

    def __init__(self, again: bool) -> None:
        self.again = again  # a tile of the same size is the same value
        self.lines: list[str] = []
        self.rows: dict[str, int] = {}
        self.names: dict[tuple[str, int], str] = {}

    def written(self) -> str:
        """The module, with the buffers that are used."""
        buffers = [f"%{name} = npu.buffer : {self.buffer(name)}" for name in sorted(self.rows)]
        return module(ARRAYS, *buffers, *self.lines)

    def buffer(self, name: str) -> str:
        space, kind, h, w = SPACES[name[0]]
        return memref(f"1x{h}x{w}", kind, space)

    def type(self, name: str) -> str:
        space, kind, _, w = SPACES[name[0]]
        return memref(f"{self.rows[name]}x{w}", kind, space)

    def tile(self, name: str) -> str:
        """The name of the slot, seen as a tile of what it holds."""
        key = name, self.rows[name]
        if key not in self.names or not self.again:
            slot = self.names[key] = f"t{len(self.lines)}"
            self.lines.append(f"%{slot} = npu.slot %{name}[0] [{key[1]}, {SPACES[name[0]][3]}] : "
                              f"{self.buffer(name)} to {self.type(name)}")  # fmt: skip
        return f"%{self.names[key]}"

    def load(self, array: str, name: str, at: tuple[int, int], rows: int) -> None:
        self.rows[name] = rows
        tile, window = self.tile(name), self.window(name, at)
        self.lines.append(f"npu.dma_load %{array}{window} to {tile} : {ARRAYS[array]} to "
                          f"{self.type(name)}")  # fmt: skip

    def store(self, name: str, array: str, at: tuple[int, int], rows: int = 0) -> None:
        """Store all contents, or the first rows of them."""
        held, self.rows[name] = self.rows[name], rows or self.rows[name]
        tile, window = self.tile(name), self.window(name, at)
        self.lines.append(f"npu.dma_store {tile} to %{array}{window} : {self.type(name)} to "
                          f"{ARRAYS[array]}")  # fmt: skip
        self.rows[name] = held

    def window(self, name: str, at: tuple[int, int]) -> str:
        return f"[{at[0]}, {at[1]}] [{self.rows[name]}, {SPACES[name[0]][3]}]"

    def clear(self, x: str) -> None:
        """Sums for the rows of this x."""
        self.rows["s"] = self.rows[x]
        self.lines.append(f"npu.clear {self.tile('s')} : {self.type('s')}")

    def multiply(self, x: str, overwrite: bool) -> None:
        self.rows["s"] = self.rows[x]
        a, b, c = (self.tile(name) for name in (x, "b", "s"))
        ta, tb, tc = (self.type(name) for name in (x, "b", "s"))
        flag = " {overwrite}" if overwrite else ""
        self.lines.append(f"npu.matmul {a}, {b} into {c}{flag} : {ta}, {tb} into {tc}")


@st.composite
def straight(draw: DrawFn, most: int = 10) -> str:
    """A program without loops in which no step reads more of a slot than was written last."""
    xs = ["a", "a2"] if draw(st.booleans()) else ["a"]
    out = Writer(draw(st.booleans()))
    out.load("x", "a", (0, 0), draw(st.integers(1, 4)))
    for _ in range(draw(st.integers(1, most))):
        _step(draw, out, xs)
    out.store(*(("s", "y") if "s" in out.rows else ("a", "z")), (0, 0))
    return out.written()


STEPS = ["x", "x", "w", "new", "new", "clear", "add", "add", "out", "back"]


def _step(draw: DrawFn, out: Writer, xs: list[str]) -> None:
    kind, at = draw(st.sampled_from(STEPS)), draw(st.sampled_from([0, 4, 8]))
    column = draw(st.sampled_from([0, COLS]))
    full = draw(st.sampled_from([x for x in xs if x in out.rows]))
    if kind == "w" or (kind in ("new", "add") and "b" not in out.rows):
        out.load("w", "b", (0, column), DEPTH)
    if kind == "x":
        array = draw(st.sampled_from(["x", "x", "z"]))
        out.load(array, draw(st.sampled_from(xs)), (at, 0), draw(st.integers(1, 4)))
    elif kind == "new":
        out.multiply(full, True)
    elif kind == "clear":
        out.clear(full)
    elif kind == "add" and "s" in out.rows:
        if fits := [x for x in (full, *xs) if out.rows.get(x) == out.rows["s"]]:
            out.multiply(fits[0], False)
    elif kind == "out" and "s" in out.rows:
        out.store("s", "y", (at, column), draw(st.integers(1, out.rows["s"])))
    elif kind == "back":
        out.store(full, "z", (at, 0), draw(st.integers(1, out.rows[full])))
