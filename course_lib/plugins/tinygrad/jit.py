"""A device of tinygrad whose kernels our LLVM runs: no chip, no tensor core, no C compiler.

    with session(llvm_device()) as launches:
        Tensor([1.0, 2.0]).exp2().numpy()          ->   [2.0, 4.0]

What tinygrad has scheduled comes as a listing, becomes LLVM IR (`text.py`) and machine code
(`course_lib/llvm/jit.py`), which reads tinygrad's memory in place. Functions that a listing lacks,
such as exp2, tinygrad spells out as polynomials. Next room: `models.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tinygrad.device import Program

from course_lib.llvm.jit import compile_text
from course_lib.plugins.tinygrad.device import Launch, ListingRenderer, add_device
from course_lib.plugins.tinygrad.listing import read_listing
from course_lib.plugins.tinygrad.text import llvm_ir

NAME = "COURSELLVM"
SPELLED_OUT = ("EXP2", "LOG2", "SIN")


def without(known: dict, *names: str) -> dict:
    """The operations that a renderer has, without some."""
    return {op: text for op, text in known.items() if op.name not in names}


class LoopRenderer(ListingRenderer):
    """Kernels as loops: one lane does everything."""

    has_local = False
    code_for_op = without(ListingRenderer.code_for_op, *SPELLED_OUT)


class JitProgram(Program):
    """A kernel as machine code."""

    def __init__(self, dev: Any, obj: Any) -> None:
        self.dev = dev
        self.name, self.lines = read_listing(obj.lib.decode())
        self.text = llvm_ir(self.name, self.lines)
        count = {op: sum(line.op == op for line in self.lines) for op in ("param", "value")}
        self.function = compile_text(self.text, self.name, count["param"], count["value"])

    def __call__(self, *bufs: np.ndarray, vals: tuple = (), **more: Any) -> float | None:
        self.function(*(buf.ctypes.data for buf in bufs), *vals)
        self.dev.launches.append(Launch(self.name))
        return None


def llvm_device() -> str:
    """Make the device known to tinygrad, and say its name."""
    return add_device(NAME, LoopRenderer, JitProgram, NAME)
