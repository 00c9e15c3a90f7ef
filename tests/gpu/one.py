"""One instruction, done for many values: on the SIMT machine, and by the plain interpreter.

    machine("add.s32", "s32", x, y)   ->   an array; thread k has x[k] and y[k]
    agreed("add.s32", "s32", x, y)    ->   the same, after the plain interpreter said so too

An operand that is a str stands in the text as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from course_lib.gpu.ptx.parts import Entry, Instruction
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import launch

from . import plain

Array = np.ndarray
Operand = Array | str
BLOCK = 32
NUMPY = {"f16": "f2", "f32": "f4", "f64": "f8", "bf16": "u2", "f16x2": "u4", "bf16x2": "u4",
         "pred": "u1"}  # fmt: skip


def numpy_of(type: str) -> np.dtype:
    return np.dtype(NUMPY.get(type) or f"{'i' if type[0] == 's' else 'u'}{int(type[1:]) // 8}")


def loaded(k: int, operand: Array) -> list[str]:
    """What brings this thread's value of operand k into register %ak."""
    bits = operand.itemsize * 8
    begin = [f".reg .b64 %p{k}; ld.param.u64 %p{k}, [in{k}];",
             f"mad.wide.u32 %p{k}, %n, {operand.itemsize}, %p{k};"]  # fmt: skip
    if operand.dtype == bool:
        return [*begin, f".reg .pred %a{k}; .reg .b32 %w{k};", f"ld.global.u8 %w{k}, [%p{k}];",
                f"setp.ne.u32 %a{k}, %w{k}, 0;"]  # fmt: skip
    return [*begin, f".reg .b{bits} %a{k};", f"ld.global.b{bits} %a{k}, [%p{k}];"]


def kernel(opcode: str, result: str, operands: Sequence[Operand]) -> Entry:
    """A thread loads its operands, does the instruction, and stores the result."""
    out = numpy_of(result)
    lines, names = [], []
    for k, operand in enumerate(operands):
        if isinstance(operand, str):
            names.append(operand)
            continue
        lines += loaded(k, operand)
        names.append(f"%a{k}")
    last = [f".reg .b{max(16, out.itemsize * 8)} %d;", f"{opcode} %d, {', '.join(names)};"]
    if result == "pred":
        last = [".reg .pred %q; .reg .b32 %d;", f"{opcode} %q, {', '.join(names)};",
                "selp.s32 %d, 1, 0, %q;"]  # fmt: skip
    parameters = [f".param .u64 in{k}" for k, o in enumerate(operands) if not isinstance(o, str)]
    text = f"""
.version 8.3
.target sm_90
.address_size 64
.entry one(.param .u64 out, {", ".join(parameters)})
{{
  .reg .b32 %n, %m; .reg .b64 %out;
  mov.u32 %n, %ctaid.x; mov.u32 %m, %tid.x; mad.lo.u32 %n, %n, {BLOCK}, %m;
  ld.param.u64 %out, [out]; mad.wide.u32 %out, %n, {out.itemsize}, %out;
  {" ".join([*lines, *last])}
  st.global.b{out.itemsize * 8} [%out], %d;
  ret;
}}"""
    return read(text).entry()


def _padded(operands: Sequence[Operand]) -> tuple[list[Array], int]:
    arrays = [o for o in operands if not isinstance(o, str)]
    size = len(arrays[0])
    return [np.resize(a, -(-size // BLOCK) * BLOCK) for a in arrays], size


def machine(opcode: str, result: str, *operands: Operand) -> Array:
    arrays, size = _padded(operands)
    out = np.zeros(len(arrays[0]), numpy_of(result))
    run = launch(kernel(opcode, result, operands), (len(out) // BLOCK,), (BLOCK,), [out, *arrays])
    assert run.arrays[0] is not None
    return run.arrays[0][:size]


def witness(opcode: str, result: str, *operands: Operand) -> Array:
    arrays, size = _padded(operands)
    entry = kernel(opcode, result, operands)
    (i,) = (i for i in entry.instructions if _is_result(i))
    thread = plain.Thread(plain.Block(entry, {}, {}, {}, bytearray(), 0, {}), 0, (0, 0, 0))
    names = [f"%a{k}" for k, o in enumerate(operands) if not isinstance(o, str)]
    columns = [a.view(f"u{a.itemsize}").tolist() for a in arrays]
    out = np.zeros(size, numpy_of(result))
    bits = out.view(f"u{out.itemsize}")
    for k, values in zip(range(size), zip(*columns, strict=True), strict=False):
        thread.registers.update(zip(names, values, strict=True))
        thread.do(i)
        bits[k] = thread.registers[str(i.operands[0])] & ((1 << 8 * out.itemsize) - 1)
    return out


def _is_result(i: Instruction) -> bool:
    return bool(i.operands) and str(i.operands[0]) in ("%d", "%q") and i.opcode != "selp.s32"


def same(a: Array, b: Array, type: str) -> Array:
    """Where two results have the same bits, or are both no number."""
    raw = f"u{a.itemsize}"
    return (a.view(raw) == b.view(raw)) | (is_nan(a, type) & is_nan(b, type))


def is_nan(a: Array, type: str) -> Array:
    if type == "bf16":
        return (a & 0x7FFF) > 0x7F80
    return a != a


def agreed(opcode: str, result: str, *operands: Operand) -> Array:
    found, wanted = machine(opcode, result, *operands), witness(opcode, result, *operands)
    good = same(found, wanted, result)
    if not good.all():
        k = int(np.argmin(good))
        given = [o if isinstance(o, str) else o[k] for o in operands]
        raise AssertionError(f"{opcode} of {given} is {found[k]!r}, and wanted is {wanted[k]!r}")
    return found


def pairs(*values: Array) -> list[Array]:
    """All combinations, as columns."""
    columns = zip(*itertools.product(*values), strict=True)
    return [np.array(c, v.dtype) for c, v in zip(columns, values, strict=True)]


def words(bits: int, signed: bool = False) -> Array:
    """Whole numbers at the edges."""
    top = 1 << (bits - 1)
    edge = [0, 1, 2, 3, 7, 0x55, 0x80, 0xFF, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2]
    return np.array(edge, f"u{bits // 8}").view(f"{'i' if signed else 'u'}{bits // 8}")


def reals(type: str) -> Array:
    """Floats at the edges: zeros, the smallest, halves, the largest, infinities, NaN."""
    kind = np.dtype(NUMPY[type])
    info = np.finfo(kind)
    edge = [0.0, info.smallest_subnormal, info.tiny / 2, info.tiny, info.tiny * 1.5, 0.25, 0.5,
            1 - info.epsneg, 1.0, 1 + info.eps, 1.5, 2.5, 3.0, 127.5, 128.0, 255.5, 32767.5,
            65504.0, info.max, np.inf]  # fmt: skip
    if type != "f16":
        edge += [2.0**31 - 1, 2.0**31, 2.0**32 - 1, 2.0**32, 2.0**63, 2.0**64, 2.0**70, 8388609.5]
    with np.errstate(over="ignore"):
        both = np.array([s * x for x in edge for s in (1, -1)] + [np.nan], kind)
    return both
