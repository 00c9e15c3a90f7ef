"""The transposes of unit 10 as machine code, in the sizes of the opening question.

    opening()        what the notebook says first: computed where xDSL is installed, else recorded
    on_tensors()     what MLIR's fusion on tensors leaves: run where MLIR is there, else recorded
    levels_bill()    nests, loads and stores per element, and wrong numbers, by optimizer

What needs xDSL or llvmlite is imported where it is used.
Next room: dialect.py, what students work with.
"""

from __future__ import annotations

import ctypes
import re
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from course_lib.draw.plots.table import table
from course_lib.maker import in_rows, maker
from course_lib.mlir.upstream.passes import passed
from course_lib.mlir.upstream.pipelines import Pipeline
from course_lib.recorded import recorded as recording
from lessons.u10 import recorded
from lessons.u10.program import N, short

SIZE = 64
FUSED = Pipeline("one operation on tensors", (
    ("linalg-generalize-named-ops", "named operations become linalg.generic"),
    ("linalg-fuse-elementwise-ops", "an elementwise op is computed where its value is used"),
))  # fmt: skip


class Measured(NamedTuple):
    """A program of one size: the loop nests that LLVM leaves, loads and stores for each element of
    the result, the buffers that are asked for, and the numbers that come out wrong."""

    loops: int
    loads: int
    stores: int
    buffers: int
    wrong: int


class Case(NamedTuple):
    """What LLVM is given: a recorded program after a pass, in one size."""

    states: tuple[tuple[str, str, str], ...]
    passed: str
    size: int = SIZE


CASES = {
    "loops": Case(recorded.TWICE, "convert-linalg-to-affine-loops"),
    "short loops": Case(recorded.TWICE, "convert-linalg-to-affine-loops", 3),
    "fused, own buffers": Case(recorded.OWN, "affine-scalrep"),
    "fused, a shared buffer": Case(recorded.TWICE, "affine-scalrep"),
}
RECORDED = {
    name: Measured(*counts)
    for name, counts in recording(__file__, "llvmlite.txt").data("measured").items()
}


class Left(NamedTuple):
    """What is left on tensors: nests, loads and stores for each element; `by` which tool."""

    by: str
    nests: int
    loads: int
    stores: int


RECORDED_LEFT = Left(recorded.FILE.words, 1, 2, 1)


def on_tensors() -> Left:
    """What the two passes of FUSED leave of the four operations."""
    try:
        lowered = passed(recorded.TWICE[0][1], FUSED)
    except ValueError:  # no tool of MLIR's is installed
        return RECORDED_LEFT
    text = lowered.states[-1].text
    read, written = (re.findall(rf"\b{side}\((.*?) :", text) for side in ("ins", "outs"))
    loads, stores = (sum(len(names.split(",")) for names in side) for side in (read, written))
    return Left(lowered.tool, text.count("linalg.generic"), loads, stores)


def measured(name: str) -> Measured:
    """One of CASES, through LLVM at -O3."""
    if not (find_spec("xdsl") and find_spec("llvmlite")):
        return RECORDED[name]
    from course_lib.mlir.llvm.execute import load

    case = CASES[name]
    loaded = load(_module(case))
    shape = case.size, case.size
    a, b = np.random.default_rng(1).permutation(2 * case.size**2).reshape(2, *shape) + 2.0
    a, b = a.astype("f4"), b.astype("f4")
    address = loaded["main"](a, b)
    got = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), shape)
    wrong = int((got != a * b).sum())
    loops = _loops(loaded.optimized)
    buffers = loaded.optimized.count("call dereferenceable")
    return Measured(loops, *_accesses(case, loops, loaded.optimized), buffers, wrong)


@maker("llvmlite", "llvmlite", "xdsl", seconds=3)
def measured_here() -> dict[str, str]:
    return {"measured": in_rows({name: measured(name) for name in CASES})}


def _module(case: Case) -> Any:
    from xdsl.parser import Parser

    from course_lib.mlir.toy.module import context
    from course_lib.mlir.toy.printing import to_cf

    text = next(low or shown for name, shown, low in case.states if short(name) == case.passed)
    size = case.size
    text = text.replace(f"{N}x{N}x", f"{size}x{size}x").replace(f"{N} : index", f"{size} : index")
    module = Parser(context(), text, case.passed).parse_module()
    to_cf(module)
    return module


def _accesses(case: Case, loops: int, optimized: str) -> tuple[int, int]:
    """Loads and stores for each element of the result. Without a loop, those of the machine code
    are counted; else those of the nests that LLVM was given, all of which it keeps."""
    given = next(text for name, text, _ in case.states if short(name) == case.passed)
    assert loops in (0, given.count("affine.for") // 2), "LLVM keeps all nests, or none"
    if loops:
        return given.count("affine.load"), given.count("affine.store")
    counts = []
    for word in ("load", "store"):
        widths = re.findall(rf"\b{word} (?:<(\d+) x float>|float)", optimized)
        counts.append(sum(int(width or 1) for width in widths) // case.size**2)
    return counts[0], counts[1]


def _loops(text: str) -> int:
    """Blocks to which a later one, or they themselves, lead back, and that lie in no other loop."""
    body = text[text.index("define ") :].partition("\n}")[0]
    labels = [*re.finditer(r"^([\w.]+):", body, re.MULTILINE)]
    ends: dict[str, int] = {}
    for k, head in enumerate(labels):
        stop = labels[k + 1].start() if k + 1 < len(labels) else len(body)
        targets = re.findall(r"label %([\w.]+)", body[head.start() : stop])
        for before in labels[: k + 1]:
            if before[1] in targets:
                ends[before[1]] = k
    spans = [(names, ends[m[1]]) for names, m in enumerate(labels) if m[1] in ends]
    return sum(not any(a < x and y <= b for a, b in spans) for x, y in spans)


def llvm() -> str:
    """The name and version of what makes the machine code."""
    if not find_spec("llvmlite"):
        return "LLVM 22"
    from llvmlite.binding import llvm_version_info

    return f"LLVM {llvm_version_info[0]}"


def opening() -> str:
    plain, own, shared = (
        measured(name) for name in ("loops", "fused, own buffers", "fused, a shared buffer")
    )
    return (
        f"LLVM -O3 leaves {plain.loops} loop nests.\n"
        f"MLIR's passes for loops leave {own.loops} if every result has a buffer of its own.\n"
        f"If two results share one, they leave {shared.loops}, and {shared.wrong:,} of "
        f"{SIZE * SIZE:,} numbers are wrong."
    )


def levels_bill(yours: str) -> Any:
    """Which optimizer left what of the transposes; `yours` is the program in the Toy dialect
    that a student's pattern made of them."""
    words_of = {
        "loops": f"{llvm()}, -O3, in LLVM IR",
        "short loops": f"{llvm()}, -O3, with 3 × 3 matrices",
        "fused, a shared buffer": "MLIR's passes for loops, two results in one buffer",
        "fused, own buffers": "MLIR's passes for loops, a buffer for each result",
    }
    rows: list[list[Any]] = [["not optimized", 4, 5, 4, 0]]
    for name, words in words_of.items():
        counted = measured(name)
        rows.append([words, counted.loops, counted.loads, counted.stores, counted.wrong])
    left = on_tensors()
    words = f"MLIR on tensors, named operations made generic and fused ({left.by})"
    rows.append([words, left.nests, left.loads, left.stores, 0])
    rows.append(["your pattern, in the Toy dialect", *_of_toy(yours)])
    heads = ["optimized by, and where", "loop nests", "loads", "stores", "wrong numbers"]
    return table(rows, heads, exact=heads[1:])


def _of_toy(text: str) -> tuple[int, int, int, int]:
    """Nests, loads and stores for each element of 2 × 3, and wrong numbers."""
    from lessons.u10.meaning import toy_bill, toy_outputs

    a, b = np.random.default_rng(1).permutation(12).reshape(2, 2, 3) + 2.0
    *_, got = toy_outputs(text, [a, b])
    nests, loads, stores = toy_bill(text)
    return nests, loads // a.size, stores // a.size, int((got != a * b).sum())
