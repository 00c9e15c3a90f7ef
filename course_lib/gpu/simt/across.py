"""What lanes of a warp tell each other: shuffles, votes. Next room: `atomics.py`."""

from __future__ import annotations

import numpy as np

from course_lib.gpu.ops.row import only, refuse
from course_lib.gpu.ptx.parts import Instruction, Pair
from course_lib.gpu.ptx.types import TYPES
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.steps import Step, Variables, guard_of, reader, step, writer

WORD, PRED = TYPES["u32"], TYPES["pred"]


@step("shfl")
def shuffle(i: Instruction, number: int, kernel: Variables) -> Step:
    """A value of another lane; its own where that lane is outside the segment. What a lane gives
    that does not take part is not defined: here, what its register holds."""
    how = i.one_of("up", "down", "bfly", "idx")
    if not how:
        raise refuse(i, ".up, .down, .bfly or .idx says which lane")
    target = i.operands[0]
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, None)
    value, by, bounds = (reader(o, WORD, kernel, i) for o in i.operands[1:4])
    guard = guard_of(i)
    write = writer(first, guard, i)
    also = None if second is None else writer(second, guard, i)
    lane = np.arange(LANES)[:, None]

    def run(frame: Frame) -> None:
        values = np.broadcast_to(value(frame), frame.shape)
        b = (by(frame) & 31).astype(np.int64)
        c = bounds(frame).astype(np.int64)
        clamp, segment = c & 31, (c >> 8) & 31
        most = (lane & segment) | (clamp & ~segment)
        low = lane & segment
        if how == "up":
            source = lane - b
            inside = source >= most
        elif how == "down":
            source = lane + b
            inside = source <= most
        elif how == "bfly":
            source = lane ^ b
            inside = source <= most
        else:
            source = low | (b & ~segment)
            inside = source <= most
        source = np.broadcast_to(np.where(inside, source, lane), frame.shape)
        write(frame, np.take_along_axis(values, source, axis=0))
        if also is not None:
            also(frame, np.broadcast_to(inside, frame.shape))

    return run


@step("vote")
def vote(i: Instruction, number: int, kernel: Variables) -> Step:
    """All, any, are they alike; or the lanes for which it holds, as bits."""
    how = i.one_of("all", "any", "uni", "ballot")
    if not how:
        raise refuse(i, ".all, .any, .uni or .ballot says what is asked")
    holds = reader(i.operands[1], PRED, kernel, i)
    guard = guard_of(i)
    write = writer(i.operands[0], guard, i)

    def run(frame: Frame) -> None:
        lanes = frame.active(None if guard is None else guard(frame))
        p = np.broadcast_to(holds(frame), frame.shape)
        takes = np.ones(frame.shape, bool) if lanes is None else lanes
        if how == "ballot":
            write(frame, bits(p & takes))
            return
        everyone = np.all(p | ~takes, axis=0, keepdims=True)
        anyone = np.any(p & takes, axis=0, keepdims=True)
        several = {"all": everyone, "any": anyone, "uni": everyone | ~anyone}
        write(frame, np.asarray(several[how]))

    return run


@step("bar")
@step("barrier")
def warp_sync(i: Instruction, number: int, kernel: Variables) -> Step | None:
    """bar.warp.sync: what lanes of a warp wrote before, the others see. (All lanes of a piece go
    together here, so there is nothing to wait for.) Other barriers are the machine's."""
    only(i, "sync", "aligned", "cta", "warp")
    if not i.has("sync"):
        raise refuse(i, "only barriers that wait (.sync)")
    if not i.has("warp"):
        return None

    def run(frame: Frame) -> None:
        for watch in frame.wave.watches:
            watch.warp_barrier(frame)

    return run


@step("activemask")
def activemask(i: Instruction, number: int, kernel: Variables) -> Step:
    write = writer(i.operands[0], guard_of(i), i)

    def run(frame: Frame) -> None:
        write(frame, bits(np.ones(frame.shape, bool) if frame.lanes is None else frame.lanes))

    return run


@step("match")
def match(i: Instruction, number: int, kernel: Variables) -> Step:
    """The lanes that have the same value."""
    if not i.has("any"):
        raise refuse(i, "only match.any")
    value = reader(i.operands[1], i.types[-1], kernel, i)
    write = writer(i.operands[0], guard_of(i), i)

    def run(frame: Frame) -> None:
        values = np.broadcast_to(value(frame), frame.shape)
        same = values[:, None, :] == values[None, :, :]
        if frame.lanes is not None:
            same = same & frame.lanes[:, None, :]
        weights = (np.uint32(1) << np.arange(LANES, dtype=np.uint32))[:, None, None]
        write(frame, (same * weights).sum(axis=0, dtype=np.uint32))

    return run


def bits(lanes: Array) -> Array:
    """32 rows of truth as one number for each warp: lane 0 is the lowest bit."""
    weights = (np.uint32(1) << np.arange(LANES, dtype=np.uint32))[:, None]
    return (lanes * weights).sum(axis=0, dtype=np.uint32, keepdims=True)
