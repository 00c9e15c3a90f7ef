"""Loads and stores: addresses of lanes, bytes of memory, and what is counted of each.

A request is one load or store of one warp. Next room: `across.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.gpu.ptx.parts import Address, Instruction, PtxError, Register, Symbol, Vector
from course_lib.gpu.ptx.types import TYPES, Type
from course_lib.gpu.simt.frame import Array, Frame
from course_lib.gpu.simt.memory import GLOBAL, LOCAL, PARAM, SHARED
from course_lib.gpu.simt.steps import Step, Variables, guard_of, reader, step, writer

SPACES = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "param": PARAM, "const": GLOBAL,
          "shared::cta": SHARED}  # fmt: skip
VECTORS = {"v2": 2, "v4": 4, "v8": 8}
Locate = Callable[[Frame], Array]


def space_of(i: Instruction) -> str:
    """The memory that it names. An address without one is a global one here."""
    return next((SPACES[m] for m in i.modifiers if m in SPACES), GLOBAL)


def address_of(i: Instruction, operand: object, space: str, kernel: Variables) -> Locate:
    """How the addresses of an operand [base+offset] are worked out: int64, in bytes."""
    if not isinstance(operand, Address):
        raise PtxError(f"{i.opcode} has no address", i.line)
    if isinstance(operand.base, Register):
        wide = operand.base.type.bits == 64
        read = reader(operand.base, TYPES["u64" if wide else "u32"], kernel, i)
        offset = np.int64(operand.offset)
        return lambda frame: read(frame).astype(np.int64) + offset
    start = kernel.address_of(operand.base.name, i) if isinstance(operand.base, Symbol) else 0
    fixed = np.full((1, 1), start + operand.offset, np.int64)
    return lambda frame: fixed


def parts_of(operand: object) -> list:
    return list(operand.parts) if isinstance(operand, Vector) else [operand]


def moved(i: Instruction, operand: object) -> list:
    """What a load or store moves: as many registers as .v2 or .v4 says."""
    parts = parts_of(operand)
    wanted = VECTORS.get(i.one_of(*VECTORS), 1)
    if len(parts) != wanted:
        raise PtxError(f"{i.opcode} moves {wanted} registers, not {len(parts)}", i.line)
    return parts


@step("ld")
def load(i: Instruction, number: int, kernel: Variables) -> Step:
    space, type = space_of(i), i.types[-1]
    target, source = i.operands
    parts = moved(i, target)
    locate, guard = address_of(i, source, space, kernel), guard_of(i)
    writes = [writer(p, guard, i) for p in parts]
    total = type.nbytes * len(parts)

    def run(frame: Frame) -> None:
        address = locate(frame)
        lanes = frame.active(None if guard is None else guard(frame))
        place = frame.wave.place(space, frame, address, total, lanes, number, "load")
        memory = frame.wave.memory(space)
        view, shift = memory.as_type(type.numpy), type.nbytes.bit_length() - 1
        index = place >> shift
        if lanes is not None:
            index = np.where(lanes, index, 0)
        for k, write in enumerate(writes):
            write(frame, _widened(view[index + k if k else index], type, parts[k]))

    return run


def _widened(value: Array, type: Type, target: object) -> Array:
    """Into a register that has more bits than what is loaded."""
    if isinstance(target, Register) and target.type.nbytes > type.nbytes:
        return value.astype(f"{'i' if type.kind == 's' else 'u'}{target.type.nbytes}")
    return value


@step("st")
def store(i: Instruction, number: int, kernel: Variables) -> Step:
    space, type = space_of(i), i.types[-1]
    target, source = i.operands
    parts = moved(i, source)
    locate, guard = address_of(i, target, space, kernel), guard_of(i)
    reads = [reader(p, type, kernel, i) for p in parts]
    total = type.nbytes * len(parts)

    def run(frame: Frame) -> None:
        address = np.broadcast_to(locate(frame), frame.shape)
        lanes = frame.active(None if guard is None else guard(frame))
        place = frame.wave.place(space, frame, address, total, lanes, number, "store")
        memory = frame.wave.memory(space)
        view, shift = memory.as_type(type.numpy), type.nbytes.bit_length() - 1
        # warp after warp, and in each lane after lane: who comes last stays
        index = (place >> shift).T if lanes is None else (place >> shift).T[lanes.T]
        for k, read in enumerate(reads):
            value = np.broadcast_to(read(frame), frame.shape).T
            view[index + k] = value if lanes is None else value[lanes.T]
        memory.mark_written(index << shift, total)

    return run
