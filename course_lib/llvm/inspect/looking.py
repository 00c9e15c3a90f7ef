"""Pictures of a kernel on its way to the processor.

    look(kernel)            loops, LLVM IR and assembly side by side, matching lines in one colour
    passes(kernel)          what each pass of LLVM's optimizer changed, step by step
    reasons(kernel)         LLVM's remarks beside the loops: what it did to which line, and what not
    blocks(kernel)[0]       control flow after the optimizer: how often each block runs
    ports(kernel)           what llvm-mca says that the processor's ports do, where it is installed

Next room: `jit.py`.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import llvmlite.binding as llvm

from course_lib.arguments import takes
from course_lib.draw.base.beside import Column, beside
from course_lib.draw.base.listing import listing
from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.graphs.flow import flow
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.walk import dealt_out, loops
from course_lib.llvm.backend import optimize
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.host import instruction_set
from course_lib.llvm.inspect.changes import changes, remarks
from course_lib.llvm.inspect.control.order import order_of
from course_lib.llvm.inspect.control.view import functions
from course_lib.llvm.inspect.fma import count_fma, fused
from course_lib.llvm.inspect.source import located, source
from course_lib.llvm.jit import emit_module
from course_lib.llvm.parts import Part

MCA = ("llvm-mca-22", "llvm-mca")


@takes
def look(kernel: Kernel, cpu: str = "host") -> Picture:
    """Three forms of a kernel side by side, and which layers of the model it computes.

    LLVM merges and moves instructions: what it could not attribute to one line has no number.
    """
    forms = source(kernel, cpu)
    columns = [
        Column("loops", forms.loops),
        Column("LLVM IR, optimized", forms.llvm_ir),
        Column("assembly", forms.assembly),
    ]
    origin = ", ".join(kernel.origin) or "no layer of a model"
    processor, _ = instruction_set(cpu)
    summary = f"computes {origin} · for {processor}{_not_shared(kernel)}"
    return beside(columns, f"@{kernel.name}", summary)


def _not_shared(kernel: Kernel) -> str:
    """Which `parallel` loops run on one thread, and why."""
    shared = dealt_out(kernel)
    alone = [f"parallel {loop.var}" for loop in loops(kernel.body)
             if loop.kind == "parallel" and loop not in shared]  # fmt: skip
    reason = "threads share loops at the top only, and only where nothing but loops stands there"
    return f" · one thread runs {', '.join(alone)}: {reason}" if alone else ""


@takes
def passes(kernel: Kernel, cpu: str = "host") -> Picture:
    """A stepper through the optimizer: LLVM IR after each pass that changed it."""
    text, _ = emit_module(kernel)
    return stepper(changes(text, cpu), f"@{kernel.name}: what each pass of LLVM's O3 changed")


@takes
def reasons(kernel: Kernel, cpu: str = "host") -> Picture:
    """LLVM's remarks, each with the line of the loops that it speaks of."""
    remarked = remarks(located(kernel), cpu)
    words = [(text, line) for line, text in sorted(remarked, key=lambda r: r[0] or 0)]
    columns = [Column("loops", source(kernel, cpu).loops), Column("LLVM's remarks", words)]
    return beside(columns, f"@{kernel.name}: what LLVM did, and what it did not")


@takes
def blocks(kernel: Kernel, cpu: str = "host") -> list[Picture]:
    """The control flow of each function of a kernel after the optimizer, run over all iterations:
    how often each block runs, and how many multiply-adds it executes each time."""
    text, parts = emit_module(kernel)
    module = optimize(text, target_machine(cpu))
    return [_blocks(module, part) for part in parts]


def _blocks(module: llvm.ModuleRef, part: Part) -> Picture:
    count = count_fma(module, {"lo": 0, "hi": part.iterations})[part.symbol]
    order = order_of(next(f for f in functions(module) if f.name == part.symbol))
    words = []
    for number in order.order:
        (name, counts), times = count.blocks[number], count.runs.blocks[number]
        label = [name, f"runs {'?' if times is None else f'{times:,}'}"]
        words.append([*label, *([f"{fused(counts)} multiply-adds"] if fused(counts) else [])])
    edges = [(order.place[a], order.place[b]) for a, b in order.edges]
    times = [count.runs.blocks[number] or 0 for number in order.order]
    most = {k for k, n in enumerate(times) if n == max(times) > 1}
    total = count.dynamic
    executed = "?" if total is None else f"{fused(total):,}"
    summary = f"{executed} multiply-adds in all; marked: where it runs most"
    return flow(words, edges, f"@{part.symbol}: control flow", summary, most)


@takes
def ports(kernel: Kernel, cpu: str = "host") -> Picture:
    """llvm-mca's static analysis of the kernel's assembly, as text.

    It takes all instructions as one loop body in which every load hits the first cache; so read
    it for kernels that are one loop. ValueError where llvm-mca is not installed.
    """
    tool = next(filter(None, map(shutil.which, MCA)), None)
    if tool is None:
        raise ValueError("llvm-mca is not installed; Debian's package llvm-22 has it")
    machine = target_machine(cpu)
    assembly = machine.emit_assembly(optimize(emit_module(kernel)[0], machine))
    processor, _ = instruction_set(cpu)
    command = [tool, f"-mcpu={processor}", "-iterations=100"]
    done = subprocess.run(command, input=assembly, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"llvm-mca failed:\n{done.stderr.strip()}")
    report = re.sub(r"\n{3,}", "\n\n", done.stdout)
    return listing(f"@{kernel.name}: llvm-mca for {processor}", report)
