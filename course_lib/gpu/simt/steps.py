"""Each instruction becomes a function of a frame, once for a whole launch.

    step = step_of(instruction, kernel)
    step(frame)                     reads its operands, writes its result

What computes has its meaning in `../ops/`; memory, other lanes and matrices have rooms beside this
one, which enter what they do in `STEPS`. Next room: `access.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from course_lib.gpu.ops.row import OPS, Meaning
from course_lib.gpu.ptx.parts import (
    Instruction,
    Operand,
    Pair,
    PtxError,
    Register,
    Special,
    Symbol,
    Vector,
)
from course_lib.gpu.ptx.types import TYPES, Type
from course_lib.gpu.simt.frame import Array, Frame

Step = Callable[[Frame], None]
Read = Callable[[Frame], Array]


class Variables(Protocol):
    """Who knows where the variables of a kernel lie (`kernel.py`)."""

    def address_of(self, name: str, i: Instruction) -> int: ...


Make = Callable[[Instruction, int, Variables], Step | None]
STEPS: dict[str, Make] = {}
NOTHING = ("bra", "ret", "exit", "membar", "fence", "prefetch", "nanosleep")


def step(name: str) -> Callable[[Make], Make]:
    """Enter a function that makes the step of the instructions of this name."""

    def enter(make: Make) -> Make:
        STEPS[name] = make
        return make

    return enter


def step_of(i: Instruction, number: int, kernel: Variables) -> Step | None:
    """The step of an instruction; None for what only the machine deals with. PtxError for what is
    not supported."""
    try:
        return _step_of(i, number, kernel)
    except PtxError:
        raise
    except (ValueError, ArithmeticError, LookupError, TypeError, AssertionError) as error:
        # each maker takes operands and types apart as it needs them
        raise PtxError(f"{i.opcode} has other types or operands than it needs", i.line) from error


def _step_of(i: Instruction, number: int, kernel: Variables) -> Step | None:
    if i.name in STEPS:
        return STEPS[i.name](i, number, kernel)
    if i.name in NOTHING:
        return None
    if i.name not in OPS:
        raise PtxError(f"{i.opcode} is not supported", i.line)
    if i.name == "mov" and any(isinstance(o, Vector) for o in i.operands):
        return _packing(i, kernel)
    return _computing(i, kernel)


def _computing(i: Instruction, kernel: Variables) -> Step:
    meaning = OPS[i.name](i)
    wanted = len(meaning.sources) + 1
    if len(i.operands) != wanted:
        raise PtxError(f"{i.opcode} has {wanted} operands, not {len(i.operands)}", i.line)
    reads = [reader(o, t, kernel, i) for o, t in zip(i.operands[1:], meaning.sources, strict=True)]
    target, guard = i.operands[0], guard_of(i)
    with np.errstate(all="ignore"):  # whether the function takes such types at all
        meaning.function(*(np.zeros((1, 1), t.numpy) for t in meaning.sources))
    if meaning.second:
        return _two_results(i, reads, meaning)
    write, function = writer(target, guard, i), meaning.function
    if len(reads) == 1:
        one = reads[0]
        return lambda frame: write(frame, function(one(frame)))
    if len(reads) == 2:
        one, two = reads
        return lambda frame: write(frame, function(one(frame), two(frame)))
    return lambda frame: write(frame, function(*(read(frame) for read in reads)))


def _two_results(i: Instruction, reads: list[Read], meaning: Meaning) -> Step:
    """setp.lt.s32 %p1|%p2, %r1, %r2. A result that is the guard as well is written last."""
    target, guard = i.operands[0], guard_of(i)
    assert isinstance(target, Pair)
    targets = [target.first, target.second]
    own = i.guard.name if i.guard else ""
    order = sorted((0, 1), key=lambda k: getattr(targets[k], "name", "") == own)
    writes = [(k, writer(targets[k], guard, i)) for k in order]

    def both(frame: Frame) -> None:
        values = meaning.function(*(read(frame) for read in reads))
        for k, write in writes:
            write(frame, values[k])

    return both


def reader(operand: Operand, type: Type, kernel: Variables, i: Instruction) -> Read:
    """How the value of an operand is read, as an array of this type."""
    if isinstance(operand, Register):
        return _of_register(operand, type, i)
    if isinstance(operand, Special):
        return lambda frame: frame.wave.special(operand.name, frame).astype(type.numpy, copy=False)
    if isinstance(operand, Symbol):
        value = kernel.address_of(operand.name, i)
    elif isinstance(operand, (int, float)):
        value = operand
    else:
        raise PtxError(f"{i.opcode} cannot read {operand}", i.line)
    fixed = constant(value, type, i)
    return lambda frame: fixed


def constant(value: int | float, type: Type, i: Instruction) -> Array:
    """A number of the text as an array of one element."""
    if isinstance(value, float) and type.kind != "f":  # mov.b32 %r1, 0f3F800000
        bits = np.array(value, f"f{type.nbytes}")
        return bits.view(type.numpy).reshape(1, 1)
    if type.kind == "f" or type.kind == "p":
        return np.array(value).astype(type.numpy).reshape(1, 1)
    if not -(1 << type.bits) < value < 1 << type.bits:
        raise PtxError(f"{value} has more than {type.bits} bits", i.line)
    return np.array(int(value) & ((1 << type.bits) - 1), f"u{type.nbytes}").view(
        type.numpy
    ).reshape(1, 1)  # fmt: skip


def _of_register(register: Register, type: Type, i: Instruction) -> Read:
    name, want = register.name, type.numpy
    if register.type.bits != type.bits:
        if register.type.bits < type.bits or type.kind == "p":
            raise PtxError(f"{i.opcode} reads {type.bits} bits, and {name} has "
                           f"{register.type.bits}", i.line)  # fmt: skip
        bits = f"u{register.type.nbytes}"  # a wider register: its lower bits
        return lambda frame: frame[name].view(bits).astype(f"u{type.nbytes}").view(want)
    if register.negated:
        return lambda frame: ~frame[name]

    def read(frame: Frame) -> Array:
        value = frame[name]
        return value if value.dtype is want else value.view(want)

    return read


Write = Callable[[Frame, Array], None]


def writer(operand: Operand, guard: Read | None, i: Instruction) -> Write:
    """How a result is written. Where the guard does not hold, a register keeps what it had."""
    if isinstance(operand, Symbol) and operand.name == "_":
        return lambda frame, value: None
    if not isinstance(operand, Register):
        raise PtxError(f"{i.opcode} cannot write {operand}", i.line)
    name, type = operand.name, operand.type

    def write(frame: Frame, value: Array) -> None:
        if value.dtype.itemsize != type.nbytes:
            value = value.astype(type.numpy if value.dtype.kind == "f" else
                                 f"{value.dtype.kind}{type.nbytes}")  # fmt: skip
        if guard is not None:
            old = frame[name]
            value = np.where(guard(frame), value, old if old.dtype is value.dtype
                             else old.view(value.dtype))  # fmt: skip
        frame[name] = value

    return write


def guard_of(i: Instruction) -> Read | None:
    return None if i.guard is None else _of_register(i.guard, TYPES["pred"], i)


def _packing(i: Instruction, kernel: Variables) -> Step:
    """mov.b64 %rd1, {%r1, %r2}: several registers are one, the first has the lowest bits."""
    (type,) = i.types
    target, source = i.operands
    guard = guard_of(i)
    if isinstance(source, Vector):
        part = TYPES[f"b{type.bits // len(source.parts)}"]
        reads = [reader(p, part, kernel, i) for p in source.parts]
        write = writer(target, guard, i)

        def pack(frame: Frame) -> None:
            value: Any = 0
            for k, read in enumerate(reads):
                value = value | (read(frame).astype(type.numpy) << type.numpy.type(k * part.bits))
            write(frame, value)

        return pack
    assert isinstance(target, Vector)
    part = TYPES[f"b{type.bits // len(target.parts)}"]
    read = reader(source, TYPES[f"b{type.bits}"], kernel, i)
    writes = [writer(p, guard, i) for p in target.parts]

    def unpack(frame: Frame) -> None:
        value = read(frame)
        for k, write in enumerate(writes):
            write(frame, (value >> value.dtype.type(k * part.bits)).astype(part.numpy))

    return unpack
