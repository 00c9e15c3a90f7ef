"""Programs of unit 11 on the simulated chip: clocks, bytes, tables.

    product(197, 768, 768)           one `npu.product`, for the chip `npu`
    ran(text)                        Ran(clocks=..., instructions=..., bytes=..., ...)

The values are compared with those that the dialect's own interpreter computes. Next room: wild.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, attr_def, irdl_op_definition, operand_def

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.text import assemble
from course_lib.mlir.npu.counts import moved
from course_lib.mlir.npu.emit import Assembled, bytes_of, emit
from course_lib.mlir.npu.keep import keep
from course_lib.mlir.npu.layout import panels
from course_lib.mlir.npu.machine import PanelsAttr
from course_lib.mlir.npu.module import written
from course_lib.mlir.npu.npu_interp import interpret
from lessons.u11.dialect import body, parsed
from lessons.u11.meaning import operands


class Ran(NamedTuple):
    """What a program does on the chip: `bytes` cross the port of DRAM, `words` are instructions,
    `right` says whether all arrays are what the interpreter says."""

    clocks: int
    words: int
    bytes: int
    right: bool
    run: Run


def product(m: int, k: int, n: int, chip: str = "npu") -> str:
    """int8[m, k] @ int8[k, n] into int32 sums."""
    cols = PRESETS[chip].cols
    x, y = f"memref<{m}x{k}xi8, #npu.space<dram>>", f"memref<{m}x{n}xi32, #npu.space<dram>>"
    w = f"memref<{k}x{n}xi8, #npu.panels<{cols}>, #npu.space<dram>>"
    return f"""\
builtin.module attributes {{npu.chip = {{preset = "{chip}"}}}} {{
  func.func @dense(%x: {x}, %w: {w}, %y: {y}) {{
    npu.product %x, %w into %y : {x}, {w} into {y}
    func.return
  }}
}}
"""


def kept(text: str) -> str:
    """The program without loads of what stands in its slot already (`course_lib/mlir/npu/keep`)."""
    module = parsed(text)
    keep(module)
    return written(module)


@lru_cache(maxsize=24)
def ran(text: str, vmax: Callable[..., str] | None = None) -> Ran:
    """The program on the chip that it names, on random operands. `vmax` is asked for the
    instructions of `npu.max`; then the values are not compared."""
    module = parsed(text, Max)
    assembled = emit(module, {} if vmax is None else {"npu.max": partial(_rule, vmax)})
    types: list[Any] = [value.type for value in body(module).args]
    arrays = operands([t for t in types if isinstance(t, MemRefType)])
    dram = _dram(assembled, arrays, types)
    run = simulate(assembled.program, dram, assembled.chip)
    right = vmax is not None
    if vmax is None:
        interpret(module, arrays)
        places = [
            slice(at, at + bytes_of(t)) for at, t in zip(assembled.arrays, types, strict=True)
        ]
        wanted = _dram(assembled, arrays, types)
        right = all(np.array_equal(dram[place], wanted[place]) for place in places)
    return Ran(run.total, len(assembled.program), sum(moved(module).values()), right, run)


@irdl_op_definition
class Max(IRDLOperation):
    """`npu.max` as it is written, which nothing verifies."""

    name = "npu.max"
    x = operand_def()
    out = operand_def()
    rows = attr_def(IntegerAttr)
    assembly_format = "$x `into` $out attr-dict `:` type($x) `into` type($out)"


def _rule(vmax: Callable[..., str], op: Operation, at: Mapping[SSAValue, int]) -> Instruction:
    """The instruction for an `npu.max`, as a function of a student's writes it."""
    x, out = op.operands
    assert isinstance(x.type, MemRefType) and isinstance(out.type, MemRefType)
    (m, n), (rows, _) = x.type.get_shape(), out.type.get_shape()
    (instruction,) = assemble(vmax(at[x], at[out], m, n, m // rows))
    return instruction


def _dram(assembled: Assembled, arrays: list[np.ndarray], types: list[Any]) -> np.ndarray:
    """The arrays in DRAM, as their types lay them out."""
    dram = np.zeros(assembled.size, np.int8)
    for at, array, type in zip(assembled.arrays, arrays, types, strict=True):
        wide = type.layout.width if isinstance(type.layout, PanelsAttr) else 0
        data = panels(array, wide) if wide else np.ascontiguousarray(array).ravel()
        dram[at : at + data.nbytes] = data.view(np.int8)
    return dram


def pooling(greatest: bool) -> str:
    """[64, 8] x [8, 4] through the output pipeline; stored whole, or the greatest of 4 rows."""
    x, w = "memref<64x8xi8, #npu.space<dram>>", "memref<8x4xi8, #npu.panels<4>, #npu.space<dram>>"
    p, y = "memref<1x2x4xi32, #npu.space<dram>>", "memref<64x4xi8, #npu.space<dram>>"
    sizes = {"a": ("64x8", "acts"), "b": ("8x4", "weights"), "s": ("64x4", "accs"),
             "e": ("1x2x4", "params"), "o": ("64x4", "acts"), "g": ("16x4", "acts")}  # fmt: skip
    kind = {"accs": "i32", "params": "i32"}
    t = {n: f"memref<{s}x{kind.get(m, 'i8')}, #npu.space<{m}>>" for n, (s, m) in sizes.items()}
    t["r"] = t["e"].replace("1x2x4", "2x4")
    if greatest:
        y = y.replace("64", "16")
    lines, entries = [], t["e"].replace("memref<", "memref<1x")
    for name in sizes if greatest else "abseo":
        one, tile = t[name].replace("memref<", "memref<1x"), sizes[name][0].replace("x", ", ")
        lines += [f"%{name}s = npu.buffer : {one}",
                  f"%{name} = npu.slot %{name}s[0] [{tile}] : {one} to {t[name]}"]  # fmt: skip
    last, rows = ("g", 16) if greatest else ("o", 64)
    lines += [
        f"%r = npu.slot %es[0, 0] [2, 4] : {entries} to {t['r']}",
        f"npu.dma_load %x[0, 0] [64, 8] to %a : {x} to {t['a']}",
        f"npu.dma_load %w[0, 0] [8, 4] to %b : {w} to {t['b']}",
        f"npu.dma_load %p[0, 0, 0] [1, 2, 4] to %e : {p} to {t['e']}",
        f'npu.matmul %a, %b into %s {{dataflow = "os", overwrite}} : '
        f" {t['a']}, {t['b']} into {t['s']}",
        f"npu.activate %s, %r into %o {{low = 0 : i64, high = 127 : i64}} : {t['s']}, {t['r']} "
        f"into {t['o']}",
        *[f"npu.max %o into %g {{rows = 4 : i64}} : {t['o']} into {t['g']}"] * greatest,
        f"npu.dma_store %{last} to %y[0, 0] [{rows}, 4] : {t[last]} to {y}",
    ]
    inner = "".join(f"    {line}\n" for line in lines)
    return (f'builtin.module attributes {{npu.chip = {{preset = "teaching"}}}} {{\n'
            f"  func.func @pooled(%x: {x}, %w: {w}, %p: {p}, %y: {y}) {{\n{inner}"
            "    func.return\n  }\n}\n")  # fmt: skip


def brief(text: str) -> str:
    """A program for reading: without the module, and without types but those of buffers."""
    lines = []
    for line in text.splitlines()[1:-1]:
        line = line.removeprefix("  ")
        if "npu.buffer" in line:
            lines.append(line)
        elif "func.func" in line:
            lines.append(re.sub(r": memref<[^)]*?>>", "", line))
        else:
            lines.append(re.sub(r" : memref.*$", "", line))
    return "\n".join(lines)


@cache
def busy(m: int, k: int, n: int) -> int:
    """Clocks of the chip `npu` if every cell multiplies in every one."""
    return math.ceil(m * k * n / PRESETS["npu"].macs)
