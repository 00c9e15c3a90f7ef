"""Bounds: a debug run in which every buffer of a kernel lies between two borders.

    | border | x | border |   | border | out | border |

    out_of_bounds(compiled, [x])   ==>   ["step 0, slice_0: writes to %0, behind its end"]

Machine code knows addresses, and no sizes. So each step runs alone, on copies of what it reads, and
once more with other bytes in the borders and in what it is to write. A border that has changed was
written to. A result with other bits was computed from bytes outside, or is not written throughout.

A read outside whose number is thrown away does not show. Next room: `draw/graphs/stages.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.ir.arrays import aligned_bytes
from course_lib.ir.graph.graph_interp import evaluate
from course_lib.ir.types import TensorType
from course_lib.memory.liveness import aligned
from course_lib.runtime.buffers import Arrays, array_at, seen
from course_lib.runtime.call import Call
from course_lib.runtime.executable import CompiledModel

BORDER = 4096  # bytes on either side of a buffer, on top of as many as it has itself

# The bytes of borders: as floats of any size 0, a large number and a large negative one; as
# integers three that differ; as truth values both. No sum, minimum or maximum hides all of them.
PATTERNS = (0x00, 0x7B, 0xFA)


def out_of_bounds(model: CompiledModel, inputs: Sequence[np.ndarray]) -> list[str]:
    """What kernels read and write outside of their buffers, in words; [] if none does.

    inputs   arrays in the order of the model's inputs, each of the input's type

    Steps without a kernel run with numpy, which checks its own bounds. An index from the data that
    is outside its axis is no fault here, as long as it reads an element of the operand.
    """
    program = model.program
    arrays: Arrays = {**program.constants, **dict(zip(program.inputs, inputs, strict=True))}
    faults = []
    for number, call in enumerate(model.calls):
        step = call.step
        if step.kernel is None:
            operands = [seen(program, value, arrays) for value in step.reads]
            arrays[step.writes] = np.asarray(evaluate(step.node, operands))
        else:
            faults += [f"step {number}, {step.name}: {fault}" for fault in _faults(call, arrays)]
    return faults


def _faults(call: Call, arrays: Arrays) -> list[str]:
    """What one kernel does wrong. Its result is among `arrays` afterwards."""
    runs = [_run_in_borders(call, arrays, turn) for turn in range(len(PATTERNS))]
    written = call.owners[-1]
    crossed = [f"writes to %{v}, {where}" for run in runs for v, b in run.items()
               for where in b.crossed()]  # fmt: skip
    crossed += [f"writes to %{v}, which it may only read" for v, b in runs[0].items()
                if v != written and b.array.tobytes() != arrays[v].tobytes()]  # fmt: skip
    results = [np.frombuffer(run[written].array.tobytes(), np.uint8) for run in runs]
    different = int(np.any([bits != results[0] for bits in results], axis=0).sum())
    if different:
        crossed.append(
            f"{different} of {results[0].size} bytes of %{written} come from outside of its "
            "operands, or are never written"
        )
    arrays[written] = runs[0][written].array
    return list(dict.fromkeys(crossed))


def _run_in_borders(call: Call, arrays: Arrays, turn: int) -> dict[str, Bordered]:
    """Run one kernel with borders around all that it reads and writes.

    The result has another pattern than the operands: a copy from border to border must show.
    """
    reads, written = call.owners[:-1], call.owners[-1]
    buffers = {v: Bordered(call.program.types[v], PATTERNS[turn]) for v in reads}
    buffers[written] = Bordered(call.program.types[written], PATTERNS[turn - 1])
    for value in reads:  # what is written in place is among them
        buffers[value].array[...] = arrays[value]
    call.run({value: buffer.array for value, buffer in buffers.items()})
    return buffers


class Bordered:
    """Memory for one value, with a border on either side that is full of `pattern`."""

    def __init__(self, type: TensorType, pattern: int) -> None:
        self.size, self.pattern = type.nbytes, pattern
        self.border = BORDER + aligned(self.size)
        self.whole = aligned_bytes(self.size + 2 * self.border)
        self.whole[...] = pattern
        self.array = array_at(self.whole, self.border, type)

    def crossed(self) -> list[str]:
        """On which sides something was written to."""
        changed = np.flatnonzero(self.whole != self.pattern) - self.border
        sides = {"before its beginning": changed < 0, "behind its end": changed >= self.size}
        return [side for side, there in sides.items() if there.any()]
