"""A whole model as one function of machine code: no Python between two kernels.

    %3 = matmul_relu_0(%x, %w)        // a step of the program; slots 0, 1 and 2 hold addresses
    ==>
    define i64 @steps.0(ptr %values) {
      %said = call i64 @course_lib.run_parallel(ptr @0.matmul_relu_0, ptr %values, i64 16, i64 2)
      ...
    define internal i64 @0.matmul_relu_0(ptr %values, i64 %lo, i64 %hi) {
      %x = load ptr, ptr %slot.0  ...
      %said = call i64 @matmul_relu_0(ptr %x, ptr %w, ptr %3, i64 %lo, i64 %hi)

`values` is an array of addresses, one for each value that owns bytes: all that differs between two
calls. A step without a kernel runs with numpy, and the machine code before it and behind it becomes
two functions. Each returns 0, or the number of the step that met an index outside its axis, plus 1.
Next room: `jit.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm
from llvmlite import ir

from course_lib.cost.work import worth_a_thread
from course_lib.ir.loops.program import Program, Step
from course_lib.llvm.emit import Part
from course_lib.llvm.pool import RUN_PARALLEL
from course_lib.llvm.values import I64, call

POINTER = ir.PointerType()
TASK = ir.FunctionType(I64, [POINTER, I64, I64])


@dataclass(frozen=True)
class Run:
    """Steps `first` .. `last` (excluded), which `symbol` runs one after the other."""

    symbol: str
    first: int
    last: int


def runs(program: Program) -> list[Run]:
    """The longest runs of steps that have machine code."""
    found: list[Run] = []
    first = 0
    for number, step in enumerate([*program.steps, None]):
        if step is None or step.kernel is None:
            if first < number:
                found.append(Run(f"steps.{first}", first, number))
            first = number + 1
    return found


def emit_entries(program: Program, parts: Mapping[str, Sequence[Part]], threads: int) -> str:
    """LLVM IR of one function for each of `runs(program)`.

    parts    of every kernel, by its name
    threads  how many may work on one kernel, where that pays
    """
    module = ir.Module(program.name)
    module.triple = llvm.get_process_triple()
    emitter = _Emitter(program, parts, module, threads)
    for run in runs(program):
        emitter.run(run)
    return str(module)


class _Emitter:
    def __init__(
        self,
        program: Program,
        parts: Mapping[str, Sequence[Part]],
        module: ir.Module,
        threads: int,
    ) -> None:
        self.program, self.parts, self.module, self.threads = program, parts, module, threads
        self.slots = {owner: slot for slot, owner in enumerate(program.owners)}

    def run(self, run: Run) -> None:
        """A function that runs the steps in order and stops at the first that says something."""
        function = ir.Function(self.module, ir.FunctionType(I64, [POINTER]), run.symbol)
        (values,) = function.args
        values.name = "values"
        b = ir.IRBuilder(function.append_basic_block("entry"))
        for number in range(run.first, run.last):
            step = self.program.steps[number]
            assert step.kernel is not None
            here = self.addresses(b, values, step)
            for part in self.parts[step.kernel.name]:
                count = I64(part.iterations)
                if self.shared(step, part):
                    task = self.task(f"{number}.{part.symbol}", step, part)
                    said = call(b, RUN_PARALLEL, [task, values, count, I64(self.threads)], I64)
                else:
                    said = call(b, part.symbol, [*here, I64(0), count], I64)
                if part.checks:
                    with b.if_then(b.icmp_signed("!=", said, I64(0)), likely=False):
                        b.ret(I64(number + 1))
        b.ret(I64(0))

    def shared(self, step: Step, part: Part) -> bool:
        """Is it worth while to ask for help?"""
        several = self.threads > 1 and part.parallel and part.iterations > 1
        return several and worth_a_thread(step.node)

    def task(self, symbol: str, step: Step, part: Part) -> ir.Function:
        """Some iterations of one part of a kernel, on the buffers of this step."""
        task = ir.Function(self.module, TASK, symbol)
        task.linkage = "internal"
        values, lo, hi = task.args
        b = ir.IRBuilder(task.append_basic_block("entry"))
        here = self.addresses(b, values, step)
        b.ret(call(b, part.symbol, [*here, lo, hi], I64))  # it is in another module
        return task

    def addresses(self, b: ir.IRBuilder, values: ir.Value, step: Step) -> list[ir.Value]:
        """Where the buffers of this step are, from the table."""
        slots = [self.slots[self.program.owner(value)] for value in (*step.reads, step.writes)]
        places = [b.gep(values, [I64(slot)], True, source_etype=POINTER) for slot in slots]
        return [b.load(place, typ=POINTER) for place in places]
