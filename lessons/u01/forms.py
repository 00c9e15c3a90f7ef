"""One matrix product on its way down, in two compilers: here, and in tinygrad.

    ours(model, x)   ->  {"torch.export": ..., "graph": ..., "loops": ..., ..., "assembly": ...}
    tinygrads()      ->  {"tensors": ..., "kernel": ..., "linear": ..., "source": ...}

Next room: tools.py, who refuses which program.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

import course_lib
from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.maker import maker
from lessons.u01.dumps import BY_TINYGRAD, TINYGRAD


def ours(model: Any, x: Any) -> dict[str, str]:
    """The forms of a model in this compiler, from PyTorch's graph to the assembly."""
    import torch

    program = course_lib.compile(model, [x], threads=1)
    names = {"loops": "loops", "scheduled loops": "scheduled", "LLVM IR": "llvm",
             "LLVM IR, optimized": "optimized", "assembly": "assembly"}  # fmt: skip
    return {
        "torch.export": _typed(torch.export.export(model, (x,)).graph_module),
        "graph": program.stages[0].text,
        **{name: program.stage(stage).text for name, stage in names.items()},
    }


def _typed(module: Any) -> str:
    """What PyTorch prints of a graph with its types, without the comments."""
    text = module.print_readable(print_output=False, include_stride=False, include_device=False)
    lines = [line.split(";")[0] for line in text.splitlines() if line.split("#")[0].strip()]
    return "\n".join([*lines, ""])


def stepped(texts: dict[str, str], title: str) -> Picture:
    """The forms one after the other; long lines and long texts are cut."""
    return stepper([(name, _cut(text)) for name, text in texts.items()], title=title, compare=False)


def _cut(text: str, wide: int = 110, most: int = 90) -> str:
    lines = text.expandtabs(4).splitlines()
    more = [f"… and {len(lines) - most} more lines"] if len(lines) > most else []
    short = [line if len(line) <= wide else line[: wide - 2] + " …" for line in lines[:most]]
    return "\n".join(short + more) + "\n"


def tinygrads() -> tuple[dict[str, str], str]:
    """The same product in tinygrad: made now where it is installed, else as recorded; and a word
    on which of the two it is."""
    if find_spec("tinygrad") is None:
        return dict(TINYGRAD), BY_TINYGRAD.words
    limit = sys.getrecursionlimit()  # importing tinygrad raises it, for everything in the process
    try:
        program, right = made_by_tinygrad(), _run_by_tinygrad()
    finally:
        sys.setrecursionlimit(limit)
    same = "the same as" if program == TINYGRAD else "not the same as"
    agrees = "agrees" if right else "does not agree"
    return program, f"made just now, {same} the recording; its interpreter {agrees} with numpy"


@maker("tinygrad", "tinygrad", seconds=2)
def made_by_tinygrad() -> dict[str, str]:
    """tinygrad without its search and its hand-written optimizations, for a C compiler.

    Its device is "PYTHON", an interpreter, so that no C compiler is needed to run the product.
    """
    os.environ.setdefault("CACHELEVEL", "0")  # no file in the home directory
    from tinygrad.codegen import to_program
    from tinygrad.device import Compiler
    from tinygrad.helpers import Target
    from tinygrad.renderer.cstyle import ClangRenderer, CStyleLanguage
    from tinygrad.tensor import Tensor
    from tinygrad.uop.render import pyrender

    class TextOnly(ClangRenderer):
        """Writes the C, and does not call clang."""

        def __init__(self) -> None:
            CStyleLanguage.__init__(self, Target.parse("CPU:CLANG:x86_64,znver2"))
            self.compiler = Compiler()

    x, w = Tensor.empty(4, 16, device="PYTHON"), Tensor.empty(16, 16, device="PYTHON")
    product = x @ w
    tensors = _listed(product.uop.toposort(), shapes=True)
    kernel = product.schedule_linear().src[-1].src[0]
    kernel = kernel.replace(arg=replace(kernel.arg, opts_to_apply=()))
    parts = {part.op.name: part for part in to_program(kernel, TextOnly()).src}
    return {
        "tensors": tensors,
        "kernel": pyrender(kernel).strip() + "\n",
        "linear": _listed(parts["LINEAR"].src),
        "source": parts["SOURCE"].arg.strip() + "\n",
    }


def _listed(operations: Any, shapes: bool = False) -> str:
    """tinygrad's operations, one in a line; constants stand where they are read."""
    lines, names = [], {}
    for op in operations:
        kind, operands = op.op.name, ", ".join(names[operand] for operand in op.src)
        if kind == "CONST":
            names[op] = f"{op.arg:g}"
        elif kind in ("CAST", "STACK") and operands and "%" not in operands:
            names[op] = f"({operands})" if kind == "STACK" else operands
        else:
            names[op] = f"%{len(lines)}"
            words = ", ".join(filter(None, (operands, _argument(kind, op.arg))))
            shape = f" : {tuple(map(int, op.shape))}" if shapes else ""
            lines.append(f"{names[op]} = {kind}({words}){shape}")
    return "\n".join([*lines, ""])


def _argument(kind: str, arg: Any) -> str:
    if kind in ("BUFFER", "SINK") or arg is None:
        return ""
    if kind == "RANGE":
        return f"loop {arg[0]} {arg[1].name.lower()}"
    return f"argument {arg.slot}" if kind == "PARAM" else str(arg)


def _run_by_tinygrad() -> bool:
    """Does its interpreter compute what numpy computes?"""
    from tinygrad.tensor import Tensor

    both = np.random.default_rng(0).standard_normal((20, 16)).astype(np.float32)
    x, w = both[:4], both[4:]
    product = Tensor(x, device="PYTHON") @ Tensor(w, device="PYTHON")
    return np.allclose(product.numpy(), x @ w, atol=1e-5)
