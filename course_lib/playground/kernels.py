"""A kernel after each step of its schedule: loops, LLVM IR, assembly, PTX, and what it costs.

    steps_of(kernel, constants)   ->   [Scheduled("as lowered", loops, llvm_ir, ...),
                                        Scheduled("split(n, 16)", ...), ...]

All of it is for one processor, Intel's Haswell, whichever this is (`llvm/inspect/fixed.py`), so
that everybody sees the same. A GPU gets the textbook loops, as in `llvm/processors.py`. Next room:
`states.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import llvmlite
from llvmlite import ir

from course_lib.cost.machine import Machine
from course_lib.cost.nest import predict
from course_lib.cost.work import operations
from course_lib.exercises import plugs_now
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.keep import kept, sources
from course_lib.llvm.backend import optimize
from course_lib.llvm.emit import emit_kernel
from course_lib.llvm.inspect.fixed import TRIPLE, fixed_machine
from course_lib.llvm.inspect.fma import count_fma, fused
from course_lib.llvm.parts import Part
from course_lib.llvm.processors import PROCESSORS, assembly
from course_lib.schedule.choose import schedule_for
from course_lib.schedule.steps import Step

LONGEST = 400  # lines of a text that are shown; the rest is counted
ROOMS = ("cost", "ir", "llvm", "playground", "schedule")  # whose code decides what is kept
MACHINE = PROCESSORS["x86-64"].machine or Machine()  # Haswell: 8 lanes, 16 registers


@dataclass(frozen=True)
class Scheduled:
    """A kernel after one step.

    step      the step as text
    loops     the loops, as `print_kernel` prints them
    llvm_ir   after LLVM's optimizer
    assembly  what Haswell runs
    fmas      multiply-adds that one run executes, lane by lane; None: not known
    clocks    that one run takes by the price model of `cost/nest.py`; None: it has no price
    """

    step: str
    loops: str
    llvm_ir: str
    assembly: str
    fmas: int | None
    clocks: int | None


@dataclass(frozen=True)
class Main:
    """A kernel, from its textbook loops to its schedule: at each of its steps, and as PTX."""

    name: str
    steps: tuple[Scheduled, ...]
    ptx: str


def heaviest(kernels: Sequence[Kernel]) -> int:
    """The position of the kernel that executes most operations; of equal ones, the first."""
    return max(range(len(kernels)), key=lambda k: operations(kernels[k]))


def main_kernel(kernel: Kernel, constants: frozenset[str]) -> Main:
    """The kernel step by step, made once on this machine; each time while an answer to an exercise
    of `ROOMS` is plugged in, for it may schedule otherwise. A pass decides which kernel it is, not
    what becomes of it. `constants` may be packed beforehand."""
    if any(name.split(".")[0] in ROOMS for name in plugs_now()):
        return _main(kernel, constants)
    key = repr((print_kernel(kernel), sorted(constants), llvmlite.__version__, sources(*ROOMS)))
    data, _ = kept(
        "playground", key, lambda: (json.dumps(asdict(_main(kernel, constants))).encode(), b"")
    )
    found = json.loads(data)
    return Main(found["name"], tuple(Scheduled(**s) for s in found["steps"]), found["ptx"])


def _main(kernel: Kernel, constants: frozenset[str]) -> Main:
    steps: list[Step] = list(schedule_for(kernel, MACHINE, constants).steps)
    now, shown = kernel, [_scheduled("as lowered", kernel)]
    for step in steps:
        now = step.apply(now)
        shown.append(_scheduled(str(step), now))
    return Main(kernel.name, tuple(shown), _ptx(kernel))


def _scheduled(step: str, kernel: Kernel) -> Scheduled:
    module, machine = ir.Module(kernel.name), fixed_machine()
    module.triple = TRIPLE
    parts = emit_kernel(kernel, module)
    done = optimize(str(module), machine)
    return Scheduled(
        step,
        print_kernel(replace(kernel, origin=())).rstrip(),
        shortened(_functions(str(done))),
        shortened(_instructions(machine.emit_assembly(done))),
        _fmas(str(done), parts),
        _clocks(kernel),
    )


def _fmas(text: str, parts: Sequence[Part]) -> int | None:
    total = 0
    for part in parts:
        counts = count_fma(text, {"lo": 0, "hi": part.iterations})[part.symbol].dynamic
        if counts is None:
            return None
        total += fused(counts)
    return total


def _clocks(kernel: Kernel) -> int | None:
    try:
        return round(predict(kernel, MACHINE).clocks)
    except ValueError:  # it has no price, such as a loop without a fixed number of iterations
        return None


def _ptx(kernel: Kernel) -> str:
    try:
        text = assembly(kernel, "nvptx")
    except ValueError as error:
        return f"// not emitted: {error}"
    return shortened([line.expandtabs(4) for line in text.splitlines() if line.strip() != "//"])


def _functions(text: str) -> list[str]:
    """The functions of a module, without attributes and without what is only declared."""
    bodies = re.findall(r"^define .*?^\}", text, re.M | re.S)
    plain = [re.sub(r"\s*; preds = .*", "", body) for body in bodies]
    return "\n\n".join(re.sub(r" #\d+ \{$", " {", b, count=1, flags=re.M) for b in plain).split(
        "\n"
    )


def _instructions(text: str) -> list[str]:
    """Labels, instructions and the numbers that they load, without the assembler's other words."""
    kept_words = (".long", ".quad", ".zero", ".short")
    lines = []
    for line in text.splitlines():
        words = line.split("#")[0].strip()
        label, directive = words.endswith(":"), words.startswith(".")
        if words and (label or not directive or words.startswith(kept_words)):
            first, _, rest = words.partition("\t")
            lines.append(words if label else f"    {first:<12} {rest}".rstrip())
    return lines


def shortened(lines: Sequence[str]) -> str:
    """At most `LONGEST` lines; what is left out is counted."""
    more = len(lines) - LONGEST
    return "\n".join([*lines[:LONGEST], f"... and {more:,} more lines"] if more > 0 else lines)
