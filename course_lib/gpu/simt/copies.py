"""cp.async: from global to shared memory past the registers, in groups that one waits for.

The copy is done at once here; until `wait_group` nobody may rely on it, which is what the finder of
races looks at. Next room: `matrices.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.gpu.ops.row import refuse
from course_lib.gpu.ptx.parts import Instruction
from course_lib.gpu.ptx.types import TYPES
from course_lib.gpu.simt.access import address_of
from course_lib.gpu.simt.frame import Frame
from course_lib.gpu.simt.memory import GLOBAL, SHARED
from course_lib.gpu.simt.steps import Step, Variables, guard_of, reader, step

SIZES = (4, 8, 16)


@step("cp")
def copy(i: Instruction, number: int, kernel: Variables) -> Step:
    """cp.async.cg.shared.global [to], [from], 16, %r1; with a fourth operand, bytes behind the
    first %r1 become 0."""
    if not i.has("async") or i.has("bulk"):
        raise refuse(i)
    if i.one_of("commit_group", "wait_group", "wait_all"):
        return _group(i)
    size = i.operands[2]
    if size not in SIZES:
        raise refuse(i, "4, 8 or 16 bytes")
    to = address_of(i, i.operands[0], SHARED, kernel)
    source, guard = address_of(i, i.operands[1], GLOBAL, kernel), guard_of(i)
    given = reader(i.operands[3], TYPES["u32"], kernel, i) if len(i.operands) > 3 else None
    assert isinstance(size, int)

    def run(frame: Frame) -> None:
        lanes = frame.active(None if guard is None else guard(frame))
        takes = np.ones(frame.shape, bool) if lanes is None else lanes
        count = np.full(frame.shape, size) if given is None else np.minimum(
            np.broadcast_to(given(frame), frame.shape), size)  # fmt: skip
        reads, where = np.broadcast_to(source(frame), frame.shape), np.broadcast_to(
            to(frame), frame.shape)  # fmt: skip
        some = takes & (count > 0)
        wave = frame.wave
        place = wave.place(GLOBAL, frame, reads, size, some, number, "load")
        target = wave.place(SHARED, frame, where, size, lanes, number, "store")
        data, into = wave.memory(GLOBAL).bytes, wave.memory(SHARED)
        for k in range(size):
            byte = np.where(some & (k < count), data[np.where(some, place + k, 0)], 0)
            into.bytes[target[takes] + k] = byte[takes]
        into.mark_written(target[takes], size)

    return run


def _group(i: Instruction) -> Step:
    return lambda frame: None
