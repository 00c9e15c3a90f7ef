"""Programs in the NPU dialect, as checks write them, all for a chip of 4 x 4 cells or larger.

    straight()       programs without loops that load, multiply and store in any order
    tile(4, 8)       the type of a tile in acts

Next room: tiles.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Crashed, Unusable, Wrong

DEPTH, COLS = 4, 4
ROWS, COLUMNS = 12, 8  # of the arrays x, z and y


def said(got: Any) -> str:
    return "nothing (is a `return` missing?)" if got is None else repr(got)[:200]


def as_text(got: Any, given: str, spec: str = "returns") -> str:
    if not isinstance(got, str):
        raise Wrong("The function must return the text of a module.", program=given, got=said(got),
                    spec=spec)  # fmt: skip
    return got


def answered(call: Callable[[], Any], called: str, spec: str) -> str:
    """The text that an answer returns. What it is told shows the whole call, so that it can be
    repeated."""
    try:
        return as_text(call(), called, spec)
    except Unusable as error:  # a module, most likely
        raise Wrong("The function must return the text of a module.", program=called,
                    got=str(error).rpartition("plain data. ")[2], expected="a str",
                    spec=spec) from None  # fmt: skip
    except Crashed as error:
        error.program = called
        raise


def read_back(got: Any, called: str, spec: str) -> Any:
    """The module that an answer returned. Wrong for one that is not valid."""
    from lessons.u11.dialect import parsed

    try:
        return parsed(got)
    except ValueError as error:
        raise Wrong(f"The result is not valid: {error}".rstrip(".") + ".", program=called, got=got,
                    spec=spec) from None  # fmt: skip


def short(text: str) -> str:
    """A result that is valid, without types but those of buffers."""
    from lessons.u11.chip import brief

    return brief(text)


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


def same_contents(called: str, text: str, got: str, module: Any, spec: str) -> None:
    """Both programs leave the same in all arrays, whatever the chip held before."""
    from lessons.u11.meaning import left

    frame, right = wanted(text)
    for garbage in (-86, 99):
        try:
            mine = _frame(module)
            made = left(module, garbage=garbage) if mine == frame else []
        except ValueError as error:
            raise Wrong(f"The result cannot be run: {error}".rstrip(".") + ".", program=called,
                        got=got, spec=spec) from None  # fmt: skip
        if mine != frame:
            raise Wrong("The module must keep its chip, and the function its parameters.",
                        program=called, got=got, spec=spec)  # fmt: skip
        for number, (one, two) in enumerate(zip(made, right, strict=True)):
            if not np.array_equal(one, two):
                at = tuple(int(i) for i in np.argwhere(one != two)[0])
                raise Wrong(f"Element {list(at)} of parameter {number} is {one[at]} afterwards, "
                            f"but must be {two[at]}.", program=called, got=got,
                            spec=spec)  # fmt: skip


def memref(sizes: str, kind: str, space: str, layout: str = "") -> str:
    return f"memref<{sizes}x{kind}, {layout}#npu.space<{space}>>"


def module(parameters: dict[str, str], *lines: str, chip: str = '{preset = "teaching"}') -> str:
    """A module as xDSL prints it, with one function."""
    given = ", ".join(f"%{name}: {type}" for name, type in parameters.items())
    body = "".join(f"    {line}\n" for line in lines)
    return (f"builtin.module attributes {{npu.chip = {chip}}} {{\n  func.func @f({given}) {{\n"
            f"{body}    func.return\n  }}\n}}\n")  # fmt: skip


def normal(text: str) -> str:
    """The text with values numbered in the order in which they appear, without empty lines."""
    names = {name: f"%{k}" for k, name in enumerate(dict.fromkeys(re.findall(r"%\w+", text)))}
    renamed = re.sub(r"%\w+", lambda found: names[found[0]], text)
    return "\n".join(line.strip() for line in renamed.splitlines() if line.strip())


X = memref(f"{ROWS}x{DEPTH}", "i8", "dram")
W = memref(f"{DEPTH}x{COLUMNS}", "i8", "dram", f"#npu.panels<{COLS}>, ")
Y = memref(f"{ROWS}x{COLUMNS}", "i32", "dram")
ARRAYS = {"x": X, "w": W, "y": Y, "z": X}
SPACES = {"a": ("acts", "i8", 4, DEPTH), "b": ("weights", "i8", DEPTH, COLS),
          "s": ("accs", "i32", 4, COLS)}  # fmt: skip


DO = ["x", "x", "w", "new", "new", "clear", "add", "add", "out", "back"]


class Writer:
    """Lines of a program, and how many rows the contents of each slot have."""

    def __init__(self, slots: dict[str, int], again: bool) -> None:
        self.slots, self.again = slots, again
        self.lines: list[str] = []
        self.rows: dict[tuple[str, int], int] = {}
        self.names: dict[tuple[str, int, int], str] = {}

    def written(self) -> str:
        """The module, with the buffers that are used."""
        used = [name for name in self.slots if any(key[0] == name for key in self.rows)]
        buffers = [f"%{name} = npu.buffer : {self.buffer(name)}" for name in used]
        return module(ARRAYS, *buffers, *self.lines)

    def buffer(self, name: str) -> str:
        space, kind, h, w = SPACES[name[0]]
        return memref(f"{self.slots[name]}x{h}x{w}", kind, space)

    def type(self, name: str, rows: int) -> str:
        space, kind, _, w = SPACES[name[0]]
        return memref(f"{rows}x{w}", kind, space)

    def tile(self, name: str, slot: int, rows: int) -> str:
        """The name of a slot seen as a tile; the same value again only if `again` says so."""
        key = name, slot, rows
        if key not in self.names or not self.again:
            made = self.names[key] = f"t{len(self.lines)}"
            width = SPACES[name[0]][3]
            self.lines.append(f"%{made} = npu.slot %{name}[{slot}] [{rows}, {width}] : "
                              f"{self.buffer(name)} to {self.type(name, rows)}")  # fmt: skip
        return f"%{self.names[key]}"

    def load(self, array: str, name: str, slot: int, at: tuple[int, int], rows: int) -> None:
        into = self.tile(name, slot, rows)
        self.rows[name, slot] = rows
        window = f"[{at[0]}, {at[1]}] [{rows}, {SPACES[name[0]][3]}]"
        self.lines.append(f"npu.dma_load %{array}{window} to {into} : {ARRAYS[array]} to "
                          f"{self.type(name, rows)}")  # fmt: skip

    def store(self, name: str, slot: int, array: str, at: tuple[int, int]) -> None:
        rows = self.rows[name, slot]
        of, type = self.tile(name, slot, rows), self.type(name, rows)
        window = f"[{at[0]}, {at[1]}] [{rows}, {SPACES[name[0]][3]}]"
        self.lines.append(f"npu.dma_store {of} to %{array}{window} : {type} to {ARRAYS[array]}")

    def clear(self, s: tuple[str, int], rows: int) -> None:
        self.rows[s] = rows
        self.lines.append(f"npu.clear {self.tile(*s, rows)} : {self.type(s[0], rows)}")

    def multiply(self, x: tuple[str, int], w: tuple[str, int], s: tuple[str, int],
                 overwrite: bool) -> None:  # fmt: skip
        rows = self.rows[x]
        self.rows[s] = rows
        places = (*x, rows), (*w, DEPTH), (*s, rows)
        a, b, c = (self.tile(*place) for place in places)
        ta, tb, tc = (self.type(name, rows) for name, _, rows in places)
        flag = " {overwrite}" if overwrite else ""
        self.lines.append(f"npu.matmul {a}, {b} into {c}{flag} : {ta}, {tb} into {tc}")


@st.composite
def straight(draw: DrawFn, most: int = 10, slots: int = 1, second: bool = True) -> str:
    """A program without loops in which nobody reads more of a slot than was written last."""
    names = ["a", "b", "s", *(["a2"] if second and draw(st.booleans()) else [])]
    out = Writer(dict.fromkeys(names, slots), draw(st.booleans()))
    out.load("x", "a", 0, (0, 0), draw(st.integers(1, 4)))
    for _ in range(draw(st.integers(1, most))):
        _step(draw, out, names, slots)
    full = sorted(key for key in out.rows if key[0] == "s")
    if full:
        out.store(*full[-1], "y", (0, 0))
    else:
        out.store("a", 0, "z", (0, 0))
    return out.written()


def _step(draw: DrawFn, out: Writer, names: list[str], slots: int) -> None:
    slot = draw(st.integers(0, slots - 1))
    xs = sorted(key for key in out.rows if key[0][0] == "a")
    ws = sorted(key for key in out.rows if key[0] == "b")
    sums = sorted(key for key in out.rows if key[0] == "s")
    kind = draw(
        st.sampled_from(["x", "x", "w", "new", "new", "clear", "add", "add", "out", "back"])
    )
    at = draw(st.sampled_from([0, 4, 8]))
    if kind in ("new", "add") and not ws:
        out.load("w", "b", slot, (0, 0), DEPTH)
        ws = [("b", slot)]
    if kind == "x":
        name = draw(st.sampled_from([n for n in names if n[0] == "a"]))
        out.load(
            draw(st.sampled_from(["x", "x", "z"])), name, slot, (at, 0), draw(st.integers(1, 4))
        )
    elif kind == "w":
        out.load("w", "b", slot, (0, draw(st.sampled_from([0, COLS]))), DEPTH)
    elif kind == "new":
        out.multiply(draw(st.sampled_from(xs)), draw(st.sampled_from(ws)), ("s", slot), True)
    elif kind == "clear":
        out.clear(("s", slot), out.rows[draw(st.sampled_from(xs))])
    elif kind == "add":
        fits = [(x, s) for x in xs for s in sums if out.rows[x] == out.rows[s]]
        if fits:
            x, s = draw(st.sampled_from(fits))
            out.multiply(x, draw(st.sampled_from(ws)), s, False)
    elif kind == "out" and sums:
        out.store(*draw(st.sampled_from(sums)), "y", (at, draw(st.sampled_from([0, COLS]))))
    elif kind == "back":
        out.store(*draw(st.sampled_from(xs)), "z", (at, 0))
