"""What the kernels of a compiled model execute, counted in their LLVM IR.

    work(run.program, run.code)[0]     %0 = matmul(...)   12 x 10 by 10 x 32

        flops      7,680                  the op table's formula
        emitted    3,840 multiply-adds    as `emit.py` wrote the kernel
        optimized  3,840 multiply-adds    as LLVM left it

A kernel may execute more than its operations ask for, where fusion computes something again, or
less, where LLVM knows a result. `course_lib/cost/work.py` counts the same in the loops. Next room:
`source.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from course_lib.ir.loops.program import Program
from course_lib.ir.registry import flops
from course_lib.llvm.inspect.fma import count_fma, fused
from course_lib.llvm.jit import emit_module

Counts = Counter[str] | None


@dataclass(frozen=True)
class Work:
    """One kernel: how often a call of the model runs it, and what it does each time.

    flops               of its operations, by the op table
    emitted, optimized  lanes by kind, as in `fma.py`; None where a loop is not counted
    """

    name: str
    calls: int
    flops: int
    emitted: Counts
    optimized: Counts

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        counts = {"emitted": self.emitted, "optimized": self.optimized}
        plain = {key: None if c is None else dict(c) for key, c in counts.items()}
        return {"name": self.name, "calls": self.calls, "flops": self.flops, **plain}


class Texts(Protocol):
    """Machine code that still knows its modules: for each, its LLVM IR before and after the
    optimizer."""

    @property
    def modules(self) -> Mapping[str, tuple[str, str]]: ...


def work(program: Program, code: Texts) -> list[Work]:
    """Each distinct kernel of a program in the order in which they first run."""
    steps = [step for step in program.steps if step.kernel is not None]
    calls = Counter(step.kernel.name for step in steps if step.kernel)
    first = {step.kernel.name: step for step in reversed(steps) if step.kernel}
    rows = []
    for name, times in calls.items():
        kernel = first[name].kernel
        assert kernel is not None
        _, parts = emit_module(kernel)
        ranges = {part.symbol: {"lo": 0, "hi": part.iterations} for part in parts}
        emitted, optimized = (_executed(text, ranges) for text in code.modules[name])
        rows.append(Work(name, times, flops(first[name].node), emitted, optimized))
    return rows


def operations(counts: Counts) -> int | None:
    """Floating-point operations: two for a multiply-add, one for each other product and sum."""
    if counts is None:
        return None
    return 2 * fused(counts) + counts["mul"] + counts["add"]


def products(counts: Counts) -> int | None:
    """Multiplications, fused or not."""
    return None if counts is None else fused(counts) + counts["mul"]


def total(works: list[Work], of: Callable[[Work], int | None]) -> int | None:
    """The sum over all calls of all kernels, if each is known."""
    numbers = [(of(w), w.calls) for w in works]
    known = [n * calls for n, calls in numbers if n is not None]
    return sum(known) if len(known) == len(numbers) else None


def _executed(text: str, ranges: dict[str, dict[str, int]]) -> Counts:
    """All parts of a kernel together, each over all iterations of its outermost loop."""
    total: Counter[str] = Counter()
    for symbol, given in ranges.items():
        counts = count_fma(text, given)[symbol].dynamic
        if counts is None:
            return None
        total += counts
    return total
