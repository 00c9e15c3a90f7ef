"""Loads and stores: addresses of lanes, bytes of memory, and what is counted of each.

A request is one load or store of one warp. Next room: `across.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from course_lib.gpu.ptx.parts import Address, Instruction, PtxError, Register, Symbol, Vector
from course_lib.gpu.ptx.types import TYPES, Type
from course_lib.gpu.simt.frame import Array, Frame
from course_lib.gpu.simt.memory import GLOBAL, LOCAL, PARAM, SHARED, WINDOW, WINDOWS
from course_lib.gpu.simt.steps import Step, Variables, guard_of, reader, step, writer

VECTORS = {"v2": 2, "v4": 4, "v8": 8}
GENERIC = "generic"
SPACES = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "param": PARAM, "const": GLOBAL,
          "shared::cta": SHARED}  # fmt: skip
Locate = Callable[[Frame], Array]


def space_of(i: Instruction) -> str:
    """The memory that it names; GENERIC where the address itself says which."""
    return next((SPACES[m] for m in i.modifiers if m in SPACES), GENERIC)


def by_space(space: str, frame: Frame, address: Array, lanes: Array | None
             ) -> Iterator[tuple[str, Array, Array | None]]:  # fmt: skip
    """Each memory that is meant, with the addresses in it and the lanes that mean it."""
    if space != GENERIC:
        yield space, address, lanes
        return
    window = np.broadcast_to(address >> WINDOW, frame.shape)
    found = np.unique(window if lanes is None else window[lanes])
    for number in found:
        base = int(number) << WINDOW
        name = next((name for name, start in WINDOWS.items() if start == base), GLOBAL)
        mine = lanes
        if len(found) > 1:
            mine = window == number if lanes is None else lanes & (window == number)
        yield name, address - (base if name != GLOBAL else 0), mine


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
        values: list[Array] = []
        for name, where, mine in by_space(space, frame, address, lanes):
            place = frame.wave.place(name, frame, where, total, mine, number, "load")
            view, shift = frame.wave.memory(name).as_type(type.numpy), _shift(type)
            index = place >> shift
            if mine is not None:
                index = np.where(mine, index, 0)
            found = [view[index + k if k else index] for k in range(len(parts))]
            if not values or mine is None:
                values = found
            else:
                values = [np.where(mine, n, o) for n, o in zip(found, values, strict=True)]
        for write, value, part in zip(writes, values, parts, strict=False):  # nothing, if no lane
            write(frame, _widened(value, type, part))

    return run


def _shift(type: Type) -> int:
    return type.nbytes.bit_length() - 1


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
        values = [np.broadcast_to(read(frame), frame.shape).T for read in reads]
        for name, where, mine in by_space(space, frame, address, lanes):
            place = frame.wave.place(name, frame, where, total, mine, number, "store")
            memory = frame.wave.memory(name)
            view, shift = memory.as_type(type.numpy), _shift(type)
            # warp after warp, and in each lane after lane: who comes last stays
            index = (place >> shift).T if mine is None else (place >> shift).T[mine.T]
            for k, value in enumerate(values):
                view[index + k] = value if mine is None else value[mine.T]
            memory.mark_written(index << shift, total)

    return run


@step("cvta")
def cvta(i: Instruction, number: int, kernel: Variables) -> Step:
    """An address in one memory becomes a generic one; with `.to`, the other way."""
    space, (type,) = space_of(i), i.types
    base = np.array(WINDOWS.get(space, 0), type.numpy)
    read = reader(i.operands[1], type, kernel, i)
    write = writer(i.operands[0], guard_of(i), i)
    if i.has("to"):
        return lambda frame: write(frame, read(frame) - base)
    return lambda frame: write(frame, read(frame) + base)
