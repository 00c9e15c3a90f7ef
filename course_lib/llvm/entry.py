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

Reading path, 12 of 12; its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm
from llvmlite import ir

from course_lib.cost.work import worth_a_thread
from course_lib.ir.loops.program import Program, Step
from course_lib.llvm.parts import Part
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
    stretches: list[Run] = []
    first = 0
    for number, step in enumerate([*program.steps, None]):
        if step is None or step.kernel is None:
            if first < number:
                stretches.append(Run(f"steps.{first}", first, number))
            first = number + 1
    return stretches


@dataclass(frozen=True)
class PartCall:
    """A step calls one part of its kernel.

    slots    where in the table the addresses of its operands and of its result are
    threads  how many may share the iterations
    """

    step: int
    slots: tuple[int, ...]
    part: Part
    threads: int


Entries = dict[str, list[PartCall]]  # what each function calls, in order


def entries_of(program: Program, parts: Mapping[str, Sequence[Part]], threads: int) -> Entries:
    """One function for each of `runs(program)`.

    parts    of every kernel, by its name
    threads  how many may work on one kernel, where that pays
    """
    slot_of = {owner: slot for slot, owner in enumerate(program.owners)}

    def calls(number: int, step: Step) -> list[PartCall]:
        assert step.kernel is not None
        slots = tuple(slot_of[program.owner(value)] for value in (*step.reads, step.writes))
        most = threads if worth_a_thread(step.node) else 1
        return [
            PartCall(number, slots, part, most if part.parallel and part.iterations > 1 else 1)
            for part in parts[step.kernel.name]
        ]

    steps = list(enumerate(program.steps))
    return {
        run.symbol: [c for step in steps[run.first : run.last] for c in calls(*step)]
        for run in runs(program)
    }


def emit_entries(name: str, entries: Entries) -> str:
    """LLVM IR of these functions, as a module of this name."""
    module = ir.Module(name)
    module.triple = llvm.get_process_triple()
    for symbol, calls in entries.items():
        _emit_entry(module, symbol, calls)
    return str(module)


def _emit_entry(module: ir.Module, symbol: str, calls: Sequence[PartCall]) -> None:
    """A function that makes the calls in order and stops at the first that says something."""
    function = ir.Function(module, ir.FunctionType(I64, [POINTER]), symbol)
    (values,) = function.args
    values.name = "values"
    b = ir.IRBuilder(function.append_basic_block("entry"))
    for part_call in calls:
        count = I64(part_call.part.iterations)
        if part_call.threads > 1:
            task = _emit_task(module, part_call)
            status = call(b, RUN_PARALLEL, [task, values, count, I64(part_call.threads)], I64)
        else:
            status = call(
                b, part_call.part.symbol, [*_addresses(b, values, part_call), I64(0), count], I64
            )
        if part_call.part.checks:
            with b.if_then(b.icmp_signed("!=", status, I64(0)), likely=False):
                b.ret(I64(part_call.step + 1))
    b.ret(I64(0))


def _emit_task(module: ir.Module, part_call: PartCall) -> ir.Function:
    """Some iterations of one part of a kernel, on the buffers of its step."""
    task = ir.Function(module, TASK, f"{part_call.step}.{part_call.part.symbol}")
    task.linkage = "internal"
    values, lo, hi = task.args
    b = ir.IRBuilder(task.append_basic_block("entry"))
    b.ret(call(b, part_call.part.symbol, [*_addresses(b, values, part_call), lo, hi], I64))
    return task


def _addresses(b: ir.IRBuilder, values: ir.Value, part_call: PartCall) -> list[ir.Value]:
    """Where the buffers of the step are, from the table."""
    places = [b.gep(values, [I64(slot)], True, source_etype=POINTER) for slot in part_call.slots]
    return [b.load(place, typ=POINTER) for place in places]
