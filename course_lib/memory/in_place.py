"""In place: a result takes over the bytes of an operand that nobody needs any more.

    %1 = conv_0(%x, %w)                      %1 = conv_0(%x, %w)
    %2 = add_relu_0(%1, %b)         ==>      %2 = add_relu_0(%1, %b) over %1

    out[i] = max(x0[i] + x1[i], 0.0)  ==>    out[i] = max(out[i] + x1[i], 0.0)

The result becomes a view of the operand's owner, and its kernel reads `out` itself: two parameters
that are read and written never share a byte, which is what LLVM is promised (`noalias`). Next room:
`plan.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.exercises import exercise
from course_lib.ir.expr import Load
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.program import Program, Step, owner
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import accesses, on_loads


def in_place(program: Program) -> Program:
    """Write results over operands wherever that is legal.

    Step s may write its result over operand v if

    - the owner of v's bytes is written by a step, and it is no result of the program: inputs and
      constants belong to somebody else, results must still be there at the end;
    - s is the last step that reads this owner, or any view of it, and reads it as v only;
    - `may_overwrite` says that the kernel of s does not mind.

    Meant for textbook loops, before `schedule`: every primitive refuses what would reorder a read
    and a write of one element. The numbers stay the same, bit for bit.
    """
    views, buffers = dict(program.views), set(program.buffers)
    results = {program.owner(v) for v in program.outputs}
    last = {program.owner(v): n for n, step in enumerate(program.steps) for v in step.reads}
    steps = []
    for number, step in enumerate(program.steps):
        owners = [owner(v, views) for v in step.reads]
        free = {o for o in owners if o in buffers and last[o] == number} - results
        alone = [v for v, o in zip(step.reads, owners, strict=True)
                 if o in free and owners.count(o) == 1]  # fmt: skip
        below = _first_legal(step, alone)
        if below is not None and step.kernel is not None:
            views[step.writes], bytes_of = below, owner(below, views)
            last[bytes_of] = last.get(step.writes, number)
            if step.writes in results:
                results.add(bytes_of)
            step = replace(step, kernel=reading_out(step.kernel, _parameter(step, below)))
        steps.append(step)
    return replace(program, views=views, steps=tuple(steps))


def _first_legal(step: Step, operands: list[str]) -> str | None:
    """The first of these operands that the step's kernel may write over."""
    if step.kernel is None:
        return None
    legal = (v for v in operands if may_overwrite(step.kernel, _parameter(step, v)))
    return next(legal, None)


def _parameter(step: Step, value: str) -> str:
    """What the kernel calls an operand."""
    assert step.kernel is not None
    return step.kernel.params[step.reads.index(value)].name


def reading_out(kernel: Kernel, operand: str) -> Kernel:
    """The same kernel, reading `out` wherever it read `operand`. Both must have one type."""
    has, wants = kernel.buffers[operand].type, kernel.out.type
    if has != wants:
        raise ValueError(f"in place: {operand} is {has}, so it has no room for out, {wants}")

    def load(e: Load) -> Load:
        return replace(e, buffer=kernel.out.name) if e.buffer == operand else e

    return verify_kernel(replace(kernel, body=on_loads(kernel.body, load)))


def never(kernel: Kernel, operand: str) -> bool:
    """The baseline: every result gets bytes of its own."""
    return False


@exercise("schedule.in_place.may_overwrite", unit=4, points=3, baseline=never, further=True)
def may_overwrite(kernel: Kernel, operand: str) -> bool:
    """May the result of a kernel have the very bytes of one of its operands?

    kernel   textbook loops, before `schedule`
    operand  the name of a parameter other than `out`; no other parameter shares its bytes

    True only if no element is read after it was written, whatever the numbers are, so that
    `reading_out(kernel, operand)` computes the same. The function must find these cases, where the
    operand has the type of the result:

        out[i, j] = f(x[i, j], ...)               elementwise
        acc = ..; out[i, j] = f(acc, x[i, j])     the residual of an epilogue, read where the
                                                  result is stored
        for j { acc += x[i, j] }                  rows, such as a softmax: a row of x is read
        for j { out[i, j] = x[i, j] / acc }       several times, and only then written

    It must refuse an operand of another type, and an element that is read too late: a broadcast, a
    transpose, a window, a matrix product, an index that is data. In doubt, the answer is False.

    >>> from course_lib.ir.graph.build import relu, transpose
    >>> from course_lib.ir.graph.node import inp
    >>> from course_lib.lower.lower import lower_node
    >>> x = inp("x", "f32[4,4]")
    >>> [may_overwrite(lower_node(y, "k"), "x0") for y in (relu(x), transpose(x, (1, 0)))]
    [True, False]
    """
    if kernel.buffers[operand].type != kernel.out.type:
        return False
    return _reads_first(reading_out(kernel, operand).body, kernel.out.name)


def _reads_first(body: tuple[Stmt, ...], out: str) -> bool:
    """Is every element of `out` read before it is written?"""
    written = False
    for stmt in body:
        ways = {way for way, name, _ in accesses((stmt,)) if name == out}
        if written and "read" in ways:
            return False
        written = written or "write" in ways
        if isinstance(stmt, Loop) and ways == {"read", "write"}:
            through_out = any(d.buffer == out for d in carried(stmt))
            if through_out or not _reads_first(stmt.body, out):
                return False
    return True
