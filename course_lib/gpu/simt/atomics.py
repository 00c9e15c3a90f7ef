"""Atomics: read, change and write with nobody in between. Next room: `copies.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.gpu.ops.row import refuse
from course_lib.gpu.ptx.parts import Instruction, PtxError
from course_lib.gpu.simt.access import address_of, space_of
from course_lib.gpu.simt.frame import Array, Frame
from course_lib.gpu.simt.steps import Step, Variables, guard_of, reader, step, writer

CHANGES: dict[str, Callable[..., Array]] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "exch": lambda old, new: new,
    "inc": lambda old, most: np.where(old >= most, 0, old + 1).astype(old.dtype),
    "dec": lambda old, most: np.where((old == 0) | (old > most), most, old - 1).astype(old.dtype),
    "cas": lambda old, compared, new: np.where(old == compared, new, old),
}  # fmt: skip


@step("atom")
def atom(i: Instruction, number: int, kernel: Variables) -> Step:
    return _atomic(i, number, kernel, with_result=True)


@step("red")
def red(i: Instruction, number: int, kernel: Variables) -> Step:
    return _atomic(i, number, kernel, with_result=False)


def _atomic(i: Instruction, number: int, kernel: Variables, with_result: bool) -> Step:
    """Lanes that mean one address come one after the other, in the order of warps and lanes."""
    how, type = i.one_of(*CHANGES), i.types[-1]
    if not how or type.name in ("f16", "bf16", "f16x2", "bf16x2"):
        raise refuse(i)
    change, space = CHANGES[how], space_of(i)
    operands = i.operands[1:] if with_result else i.operands
    locate, guard = address_of(i, operands[0], space, kernel), guard_of(i)
    wanted = 3 if how == "cas" else 2
    if len(operands) != wanted:
        raise PtxError(f"{i.opcode} has {wanted + with_result} operands, not {len(i.operands)}",
                       i.line)  # fmt: skip
    reads = [reader(o, type, kernel, i) for o in operands[1:]]
    write = writer(i.operands[0], guard, i) if with_result else None

    def run(frame: Frame) -> None:
        address = np.broadcast_to(locate(frame), frame.shape)
        lanes = frame.active(None if guard is None else guard(frame))
        place = frame.wave.place(space, frame, address, type.nbytes, lanes, number, "atomic")
        view = frame.wave.memory(space).as_type(type.numpy)
        takes = np.ones(frame.shape, bool) if lanes is None else np.broadcast_to(lanes, frame.shape)
        index = (place >> (type.nbytes.bit_length() - 1)).T[takes.T]
        values = [np.broadcast_to(read(frame), frame.shape).T[takes.T] for read in reads]
        old = in_turn(view, index, change, values)
        if write is not None:
            result = np.zeros(frame.shape[::-1], type.numpy)
            result[takes.T] = old
            write(frame, np.ascontiguousarray(result.T))

    return run


def in_turn(memory: Array, index: Array, change: Callable[..., Array], values: list[Array]
            ) -> Array:  # fmt: skip
    """Change memory[index] one after the other; what each found there. In the n-th turn come those
    that are the n-th to mean their address."""
    order = np.argsort(index, kind="stable")
    sorted_ = index[order]
    first = np.r_[True, sorted_[1:] != sorted_[:-1]] if len(index) else np.zeros(0, bool)
    starts = np.flatnonzero(first)
    turn = np.arange(len(index)) - np.repeat(starts, np.diff(np.r_[starts, len(index)]))
    by_turn = order[np.argsort(turn, kind="stable")]
    old = np.zeros(len(index), memory.dtype)
    ends = np.cumsum(np.bincount(turn)) if len(index) else []
    begin = 0
    for end in ends:
        now = by_turn[begin:end]
        found = memory[index[now]]
        old[now] = found
        memory[index[now]] = change(found, *(value[now] for value in values))
        begin = end
    return old
