"""One program at every boundary of tinygrad, and a program that becomes wrong at one of them.

    walk("relu(a @ b)")     a page for each boundary, from tensors to the machine's instructions
    COUNT                   the pages of a program that counts wrong, recorded

tinygrad has no hook between its passes. All of them go through `graph_rewrite`, which the modules
look up by name, so it is replaced there while `states` listens. Next room: wild.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.maker import maker
from course_lib.recorded import recorded
from lessons.u17.tensors import parsed, tensor

BY_TINYGRAD = recorded(__file__, "recorded.txt")
COUNT = BY_TINYGRAD.texts  # the pages that tinygrad made, by the pass after which they stood
FOLDED = "symbolic+reduce_collapse+debuf"
SAID = {
    "tensors": "what the Python program left behind",
    "earliest rewrites": "movements that follow each other become one",
    "apply rangeify": "axes become ranges, and movements become indices",
    FOLDED: "rules simplify, and stores that do not pay are removed",
    "split kernels": "each store becomes a kernel of its own, with parameters",
    "initial symbolic": "the kernel's AST, simplified",
    "remove reduces": "a reduction becomes additions written out, or a register in a loop",
    "LINEAR": "single numbers, loads, and all operations in a row",
    "SOURCE": "the text of the kernel, here the listing of our renderer",
    "BINARY": "what runs: on our device, LLVM IR and then machine code",
}


@contextmanager
def heard() -> Iterator[list[tuple[str, Any]]]:
    """The name of each of tinygrad's passes that runs meanwhile, and what it left."""
    from tinygrad import codegen
    from tinygrad.schedule import indexing, rangeify

    rewrites: list[tuple[str, Any]] = []
    before = rangeify.__dict__["graph_rewrite"]

    def listening(sink: Any, rules: Any, *args: Any, name: str | None = None, **more: Any) -> Any:
        after = before(sink, rules, *args, name=name, **more)
        if name and after is not sink:
            rewrites.append((name, after))
        return after

    for module in (rangeify, indexing, codegen):
        module.__dict__["graph_rewrite"] = listening
    try:
        yield rewrites
    finally:
        for module in (rangeify, indexing, codegen):
            module.__dict__["graph_rewrite"] = before


def listed(operations: Sequence[Any], bounds: bool = False) -> str:
    """tinygrad's operations, one in a line, without those that only hold constants and sizes."""
    lines: list[str] = []
    names: dict[Any, str] = {}
    for u in operations:
        kind, operands = u.op.name, [names[s] for s in u.src if names.get(s)]
        if kind == "CONST":
            names[u] = f"{u.val:g}" if isinstance(u.val, float) else str(u.val)
        elif kind == "STACK" and not any(x.startswith("%") for x in operands):
            names[u] = f"({', '.join(operands)})"
        elif kind == "CAST" and u.src[0].op.name == "CONST":
            names[u] = operands[0]
        else:
            names[u] = f"%{len(lines)}"
            line = f"{names[u]:<3} = {_line_of(u, operands)}"
            if bounds and u.dtype.name not in ("void", "float"):
                line = f"{line:<40}{int(u.vmin)} .. {int(u.vmax)}"
            lines.append(line)
    return "\n".join(lines) + "\n"


def _line_of(u: Any, operands: Sequence[str]) -> str:
    kind, arg = u.op.name, ""
    if kind in ("PARAM", "BUFFER"):
        return f"{kind}({u.max_numel()} {u.dtype.name})"
    if kind == "RANGE":
        axis = u.arg[1].name.lower()
        arg = f"loop {u.arg[0]}" + (f", {axis}" if axis != "weak" else "")
    elif kind in ("CAST", "REDUCE"):
        arg = u.dtype.name if kind == "CAST" else u.arg[0].name
    elif kind in ("RESHAPE", "PERMUTE", "EXPAND", "PAD", "SHRINK"):
        arg = str(u.arg) if u.arg is not None else ""
    return f"{kind}({', '.join(filter(None, [*operands, arg]))})"


def count() -> Any:
    """How many of 256 bytes x, read as signed numbers, have 2x + 5 below 0: 126, says numpy."""
    from tinygrad.tensor import Tensor

    x = Tensor(np.arange(256, dtype=np.uint8)).realize()
    return (x.cast("int8").cast("int32") * 2 + 5 < 0).cast("int32").sum()


@cache
def product() -> dict[str, str]:
    """relu(a @ b), of 4 × 8 and 8 × 6 numbers, at every boundary."""

    def make() -> Any:
        from tinygrad.tensor import Tensor

        a, b = (Tensor(np.ones(shape, np.float32)).realize() for shape in ((4, 8), (8, 6)))
        return (a @ b).relu()

    return states(make, [name for name in SAID if name != "BINARY"])


def states(make: Callable[[], Any], wanted: Sequence[str], bounds: bool = False) -> dict[str, str]:
    """The pages of a tensor's last kernel after these passes, on our LLVM's device."""
    from course_lib.plugins.tinygrad.jit import llvm_device  # tinygrad need not be installed
    from course_lib.plugins.tinygrad.listing import read_listing
    from course_lib.plugins.tinygrad.session import session
    from course_lib.plugins.tinygrad.text import llvm_ir

    with session(device := llvm_device(), SCACHE=0):
        from tinygrad.codegen import to_program
        from tinygrad.device import Device

        tensor = make()
        pages = {"tensors": listed(tensor.uop.toposort(), bounds)}
        with heard() as passes:
            kernel = tensor.schedule_linear().src[-1].src[0]
            program = to_program(kernel, Device[device].renderer)
    pages |= {name: listed(after.toposort(), bounds) for name, after in passes}
    parts = {part.op.name: part for part in program.src}
    source = parts["SOURCE"].arg
    pages |= {"LINEAR": listed(parts["LINEAR"].src, bounds), "SOURCE": source}
    pages["BINARY"] = llvm_ir(*read_listing(source)) + "\n"
    return {name: pages[name] for name in ("tensors", *wanted, "BINARY") if name in pages}


@maker("tinygrad", "tinygrad", seconds=2)
def pages_of_count() -> dict[str, str]:
    """Those that the lesson shows, with the bounds of each line."""
    pages = states(count, list(COUNT), bounds=True)
    return {name: pages[name] for name in COUNT}


def walk(pages: dict[str, str], title: str, most: int = 60) -> Picture:
    """The pages, one after the other."""
    texts: list[tuple[str, str | Picture]] = []
    for name, text in pages.items():
        lines = text.splitlines()
        more = [f"... and {len(lines) - most} more lines"] if len(lines) > most else []
        head = f"# {SAID.get(name, '')}: {len(lines)} lines"
        texts.append((name, "\n".join([head, *lines[:most], *more]) + "\n"))
    return stepper(texts, title, compare=False)


def convolved(windows: str) -> str:
    """The program of windows, and the sums of their products with `the_weights`."""
    last = parsed(windows)[-1].name
    return f"{windows}\nits_products = mul {last} the_weights\nits_sums = sum its_products 1"


def kernel_of(text: str, **shapes: tuple[int, ...]) -> str:
    """The last kernel of a program of primitive operations, as UOps."""
    from course_lib.plugins.tinygrad.jit import llvm_device  # tinygrad need not be installed
    from course_lib.plugins.tinygrad.session import session

    with session(device := llvm_device(), SCACHE=0):
        from tinygrad.tensor import Tensor

        given = {name: Tensor.empty(*shape, device=device) for name, shape in shapes.items()}
        return listed(tensor(text, **given).schedule_linear().src[-1].src[0].toposort())
