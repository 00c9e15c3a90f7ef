"""The block in four compilers, run here or recorded: counts, texts and tables of the notebook.

    opening_table()           what one call launches in each of them
    relax_lines()             the block in Relax, from the three projections to the end of attention
    rewrite_table(text)       what TVM makes of the block with a rewrite

What is recorded says so. Next room: `hardware.py`.
"""

from __future__ import annotations

import copy
import re
from functools import cache
from textwrap import indent
from typing import Any

import numpy as np

from course_lib.compiler import compile
from course_lib.draw.base.picture import Picture
from course_lib.draw.graphs.graph import before_after
from course_lib.draw.plots.table import table
from course_lib.ir.graph.build import matmul, softmax, trace
from course_lib.ir.graph.node import Node
from course_lib.models import MODELS, example_inputs
from course_lib.passes.fusion.groups import as_kernels
from course_lib.peers.peer import lacking, peer
from course_lib.recorded import recorded
from lessons.bill import bill_of
from lessons.u16 import live, stablehlo
from lessons.u16.dispatches import RECORDED, in_order
from lessons.u16.relax import as_function, expression, matches
from lessons.u16.tile import launch

BY_XLA, BY_IREE, BY_TVM, BY_TRITON = (
    recorded(__file__, f"{name}.txt") for name in ("xla", "iree", "tvm", "triton")
)
LEVELS = ("TTIR", "TTGIR", "PTX")
ATTENTION = {  # the launches of softmax(QK^T / 8)V in each system, by what their names say
    "ours": r"^(matmul_mul_0|reduce_max_sub_exp_reduce_sum_div_0|matmul_0)$",
    "IREE": r"matmul\w*_4x128x128x64|softmax|matmul\w*_4x128x64x128|matmul\w*_128x4x64x128",
    "TVM": r"^(fused_matmul1_divide|softmax|matmul2)$",
    "XLA": r"attention/(dot_general|reduce_max|reduce_sum|div)",
}


@cache
def launches() -> dict[str, list[str]]:
    """What one call of the block launches: ours here, the others as recorded."""
    ready = compile(MODELS["block"].build(), example_inputs("block"))
    iree = BY_IREE.data("launches")
    return {
        "ours": [kernel.name for kernel in ready.kernels],
        "IREE": iree["default"],
        "IREE, O3": iree["O3"],
        "IREE, data tiling": iree["data tiling"],
        "TVM": BY_TVM.data("rewritten")["before"],
        "XLA": BY_XLA["launches"].splitlines(),
    }


def of_attention(system: str) -> list[str]:
    """The launches of a system that compute softmax(QK^T / 8)V."""
    return [name for name in launches()[system] if re.search(ATTENTION[system], name)]


def opening_table() -> Picture:
    """Systems and what one call of the block launches in each."""
    words = {"XLA": BY_XLA.tool, "IREE": BY_IREE.tool, "TVM": BY_TVM.tool, "ours": "course_lib"}
    rows = [[name, words[name], len(launches()[name]), len(set(launches()[name]))]
            for name in ("ours", "TVM", "IREE", "XLA")]  # fmt: skip
    return table(rows, ["system", "version", "launches", "different ones"],
                 exact=["launches", "different ones"])  # fmt: skip


def attention_drawn() -> Picture:
    """Attention as four operations, and as the three launches that most systems make of it."""

    def attention(query: Node, key: Node, value: Node) -> Node:
        return matmul(softmax(matmul(query, key) * 0.125), value)

    apart = trace(attention, "f32[4,128,64]", "f32[4,64,128]", "f32[4,128,64]", name="attention")
    product, scaled, middle, last = apart.ops
    groups = {node: group for group in ([scaled, product], [middle], [last]) for node in group}
    return before_after(apart, as_kernels(apart, groups), title="four operations, three launches")


def attention_table() -> Picture:
    """softmax(QK^T / 8)V in each system, launch by launch."""
    rows = []
    for name in ("ours", "TVM", "IREE", "XLA"):
        found = [x.removeprefix("fusion ").partition(" ")[0] for x in of_attention(name)]
        rows.append([name, len(found), ", ".join(found)])
    return table(rows, ["system", "launches", "they are"], exact=["launches"])


@cache
def block_rows() -> stablehlo.Program:
    """The block in StableHLO, as rows."""
    return stablehlo.parsed(BY_XLA["stablehlo"])


def lines_of(name: str, before: int) -> str:
    """Some lines of the block's StableHLO that end with the line of a value."""
    lines = [line.strip() for line in BY_XLA["stablehlo"].splitlines()]
    at = next(k for k, line in enumerate(lines) if line.startswith(f"{name} = "))
    cut = [line if len(line) <= 106 else f"{line[:102]} ..." for line in lines]
    return "\n".join(cut[at - before : at + 1])


def phases(text: str) -> str:
    """A StableHLO program after three phases of IREE; without IREE, what is recorded of `SMALL`."""
    if words := lacking(peer("iree")):
        other = "" if text == live.SMALL else ", of the program with tanh, not of yours"
        return f"{BY_IREE['phases']}({BY_IREE.words}{other}; {words})"
    return "".join(f"{name}\n{live.phase(text, name)}" for name in live.PHASES)


def iree_table() -> Picture:
    """The block in IREE at three settings, by kinds of dispatches."""
    heads = ["product", "reduction", "softmax", "transpose", "encode"]
    rows = []
    for name in ("IREE", "IREE, O3", "IREE, data tiling"):
        found = launches()[name]
        keys = ("matmul", "reduction", "softmax", "transpose", "encode")
        rows.append([name, len(found), *(sum(key in x for x in found) for key in keys)])
    return table(rows, ["setting", "dispatches", *heads], exact=["dispatches", *heads])


def targets_table() -> Picture:
    """The same program for six targets of IREE."""
    rows = [[target, *found] for target, found in BY_IREE.data("targets").items()]
    return table(rows, ["target", "format of the kernel", "bytes of the file"],
                 BY_IREE.words, exact=["bytes of the file"])  # fmt: skip


@cache
def block_text() -> str:
    """The block in Relax as a function of the room `R`."""
    return as_function(BY_TVM["relax"])


def relax_lines() -> str:
    """The block in Relax, without types, from the first reshape to the last permutation."""
    lines = [line.strip() for line in block_text().splitlines()]
    first = next(k for k, line in enumerate(lines) if "R.reshape" in line)
    last = max(k for k, line in enumerate(lines) if "axes=[0, 2, 1, 3]" in line)
    return "\n".join(lines[first : last + 1])


@cache
def _rewritten(text: str) -> dict[str, Any]:
    return live.rewritten(text)


def rewrite_table(text: str) -> Picture:
    """What TVM launches for the block before and after a rewrite. ValueError if it finds none."""
    pattern = expression(text, "before")
    if len(pattern) != 3 or not matches(pattern, expression(block_text(), "main")):
        raise ValueError("`before` does not stand in the block, so TVM rewrites nothing")
    here = not lacking(peer("tvm"))
    found = _rewritten(text) if here else BY_TVM.data("rewritten")
    rows = [["before", len(found["before"]), ", ".join(found["before"])],
            ["after", len(found["after"]), ", ".join(found["after"])]]  # fmt: skip
    title = "" if here else f"with our answer; {BY_TVM.words}"
    return table(rows, ["", "launches", "they are"], title, exact=["launches"])


def tiles_table() -> Picture:
    """Products of Triton on a GPU, by tile, the slowest first."""
    found = sorted(BY_TRITON.data("tiles"), key=lambda row: row[5])
    rows = [[f"{m} x {n} x {k}", warps, stages, flops, regs, shared]
            for m, n, k, warps, stages, flops, regs, shared in found]  # fmt: skip
    rows.append(["cuBLAS", "", "", BY_TRITON.data("vendor"), "", ""])
    heads = ["tile", "warps", "stages", "TFLOP/s", "registers", "shared bytes"]
    title = f"two matrices of 4096 x 4096 numbers in f16, {BY_TRITON.words}"
    return table(rows, heads, title, exact=heads[1:])


def levels() -> str:
    """`tl.exp(v - m)` in TTIR, in TTGIR and in PTX."""
    parts = [f"{name}\n{indent(BY_TRITON[f'exp in {name}'], '    ')}" for name in LEVELS]
    return f"{''.join(parts)}({BY_TRITON.words})"


def ptx_table() -> Picture:
    """The instructions of Triton's softmax in PTX, by kind."""
    counts = BY_TRITON.data("ptx")
    wanted = {"ld.global.b32": "loads from memory", "st.global.b32": "stores to memory",
              "ex2.approx.f32": "exponentials", "shfl.sync.bfly.b32": "exchanges within a warp",
              "ld.shared.b32": "loads from shared memory",
              "st.shared.b32": "stores to shared memory", "bar.sync": "barriers"}  # fmt: skip
    rows = [[name, words, counts[name]] for name, words in wanted.items()]
    return table(rows, ["instruction", "what", "in the text"], BY_TRITON.words,
                 exact=["in the text"])  # fmt: skip


def bill(softmaxes: Any, dispatches: Any, normalize: str) -> Picture:
    """What the pieces of this unit changed."""
    x = np.ones((4, 781), np.float32)
    run = launch(normalize, "normalize", 4, x.shape, x, 781, 1024)
    right = sum(
        in_order(dispatches(copy.deepcopy(case.program)), case.program) == case.groups
        for case in RECORDED
    )
    alone = sum(len(case.groups) == len(case.program) - 2 for case in RECORDED)  # two are inputs
    rows: list[list[str | int]] = [
        ["softmaxes found in the block", 0, len(softmaxes(copy.deepcopy(block_rows()))), 1],
        [f"of {len(RECORDED)} programs, grouped as IREE does", alone, right, len(RECORDED)],
        ["numbers moved to normalize 4 rows of 781 (before: in three passes)", 4 * x.size,
         run.loaded + run.stored, 2 * x.size],
    ]  # fmt: skip
    heads = ["", "before", "with yours", "best known"]
    return bill_of(rows, heads)
