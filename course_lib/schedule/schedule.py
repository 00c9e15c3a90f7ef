"""Program -> scheduled program: choose loops for every kernel, pack weights, share equal kernels.

ResNet-18 has 20 convolutions of only 11 different shapes: kernels that are equal but for their
name are scheduled and generated once, and the next process finds what was chosen for them
(`keep.py`). Weights that a schedule wants in blocks are rearranged here, at compile time. Next
room: `memory/liveness.py`.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from course_lib.arguments import takes
from course_lib.cost.machine import Machine
from course_lib.exercises import plugs_now
from course_lib.ir.arrays import aligned_copy
from course_lib.ir.loops.nest import Kernel, Packing, print_kernel
from course_lib.ir.loops.program import Program, Step
from course_lib.ir.types import type_of
from course_lib.keep import is_kept, kept, sources
from course_lib.schedule.choose import choose
from course_lib.schedule.script import Schedule
from course_lib.schedule.search.tuned import Schedules

Chooser = Callable[[Kernel, Machine, frozenset[str]], Kernel]


def choose_once(
    kernel: Kernel, machine: Machine, constants: frozenset[str], given: Schedule | None = None
) -> Kernel:
    """What `choose` makes of the kernel, or the given schedule, made once on this machine; each
    time if an answer to an exercise is plugged in, for it may choose otherwise."""

    def make() -> Kernel:
        return given.apply(kernel) if given else choose(kernel, machine, constants)

    if plugs_now():
        return make()
    key = _key(kernel, machine, constants, given)
    data, _ = kept("schedules", key, lambda: (pickle.dumps(make()), b""))
    return pickle.loads(data)  # from a folder whose machine code we run, too


def is_chosen(
    kernel: Kernel, machine: Machine, constants: frozenset[str], given: Schedule | None = None
) -> bool:
    """Would `choose_once` find it? True, too, where nothing can be kept."""
    return is_kept("schedules", _key(kernel, machine, constants, given))


def _key(
    kernel: Kernel, machine: Machine, constants: frozenset[str], given: Schedule | None
) -> str:
    code = sources("ir", "cost", "schedule")
    return repr((print_kernel(kernel), machine, sorted(constants), str(given), code))


def looking_up(tuned: Schedules | None) -> Chooser:
    """A chooser that takes the schedules which a search found, and chooses where there is none."""

    def chooser(kernel: Kernel, machine: Machine, constants: frozenset[str]) -> Kernel:
        given = tuned.schedule_of(kernel, constants) if tuned else None
        try:
            return choose_once(kernel, machine, constants, given)
        except ValueError as error:
            if given is None:
                raise
            warnings.warn(f"@{kernel.name}: its tuned schedule does not fit: {error}", stacklevel=2)
            return choose_once(kernel, machine, constants)

    return chooser


def distinct(program: Program) -> list[tuple[Kernel, frozenset[str]]]:
    """The kernels that `schedule` schedules: of those that are equal but for their name, the first;
    and which operands are constants."""
    different: dict[tuple, tuple[Kernel, frozenset[str]]] = {}
    for step in program.steps:
        if step.kernel is not None:
            fixed = fixed_operands(program, step)
            different.setdefault(_same(step.kernel, fixed), (step.kernel, fixed))
    return list(different.values())


def fixed_operands(program: Program, step: Step) -> frozenset[str]:
    """The parameters of its kernel to which a step gives a constant."""
    return frozenset(f"x{k}" for k, value in enumerate(step.reads) if value in program.constants)


def _same(kernel: Kernel, fixed: frozenset[str]) -> tuple:
    """Equal for kernels that may share a schedule. By text: as data, 0.0 and -0.0 are equal."""
    return kernel.params, kernel.text, kernel.packed, kernel.prefetched, fixed


@takes
def schedule(program: Program, machine: Machine, chooser: Chooser = choose_once) -> Program:
    """The same program with every kernel scheduled by `chooser`."""
    constants, types = dict(program.constants), dict(program.types)
    scheduled: dict[tuple, Kernel] = {}
    steps = []
    for step in program.steps:
        if step.kernel is None:
            steps.append(step)
            continue
        fixed = fixed_operands(program, step)
        same = _same(step.kernel, fixed)
        if same not in scheduled:
            scheduled[same] = chooser(step.kernel, machine, fixed)
        kernel = scheduled[same]
        reads = list(step.reads)
        for packing in kernel.packed:
            position = [b.name for b in kernel.params].index(packing.param)
            name = f"{reads[position]}.packed{packing.axis}x{packing.factor}"
            if name not in constants:
                constants[name] = packed(constants[reads[position]], packing)
                types[name] = type_of(constants[name])
            reads[position] = name
        steps.append(Step(step.node, kernel, tuple(reads), step.writes))
    used = {program.owner(v) for v in program.outputs} | set(program.outputs)
    used |= {v for s in steps for r in s.reads for v in (r, program.owner(r))}
    kept = {name: array for name, array in constants.items() if name in used}
    return replace(program, steps=tuple(steps), constants=kept, types=types)


def packed(array: np.ndarray, packing: Packing) -> np.ndarray:
    """The array with one axis in blocks, outer part first, inner part last (`primitives.pack`)."""
    shape, axis = list(array.shape), packing.axis
    shape[axis : axis + 1] = [shape[axis] // packing.factor, packing.factor]
    blocks = aligned_copy(np.moveaxis(array.reshape(shape), (axis, axis + 1), (0, -1)))
    blocks.setflags(write=False)
    return blocks
