"""What a model cost: compile seconds, kernels with their work, memory. As text and JSON.

print(run.report())

kernel               calls   MFLOP     MB  from
conv_add_relu_0          4    231.2   1.75  layer1.0.conv1, ...

Next room: `bounds.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.ir.graph.node import Node
from course_lib.ir.registry import flops, traffic
from course_lib.memory.plan import MemoryPlan

COLUMNS = ("kernel", "calls", "MFLOP", "MB", "from")


@dataclass(frozen=True)
class KernelInfo:
    """One call of a kernel: what it computes, for which part of the model, and how much work it is.

    flops    floating-point operations         traffic  bytes read and written
    origin   module paths or ONNX names
    """

    name: str
    ops: tuple[str, ...]
    origin: tuple[str, ...]
    flops: int
    traffic: int


@dataclass(frozen=True)
class Report:
    """`rows` holds one entry for each distinct kernel: (name, calls, flops, bytes, origins)."""

    rows: tuple[tuple[str, int, int, int, tuple[str, ...]], ...]
    ops: int
    kernels: int
    flops: int
    traffic: int
    compile_seconds: dict[str, float]
    memory: MemoryPlan | None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plan = self.memory
        return {
            "ops": self.ops,
            "kernels": self.kernels,
            "distinct_kernels": len(self.rows),
            "flops": self.flops,
            "traffic_bytes": self.traffic,
            "compile_seconds": sum(self.compile_seconds.values()),
            "compile_seconds_by_step": self.compile_seconds,
            "arena_bytes": plan.size if plan else None,
            "arena_lower_bound_bytes": plan.lower_bound if plan else None,
            "results_in_place": plan.in_place if plan else None,
        }

    def cells(self) -> list[tuple[str, ...]]:
        return [
            (name, str(calls), f"{flops / 1e6:.3g}", f"{size / 1e6:.3g}", _short(origin))
            for name, calls, flops, size, origin in self.rows
        ]

    def __str__(self) -> str:
        total = sum(self.compile_seconds.values())
        steps = ", ".join(f"{step} {s:.2f}" for step, s in self.compile_seconds.items())
        lines = [
            f"{_count(self.ops, 'op')} in {_count(self.kernels, 'kernel')} "
            f"({len(self.rows)} distinct), "
            f"{self.flops / 1e6:.4g} MFLOP, {self.traffic / 1e6:.4g} MB moved",
            f"compiled in {total:.2f} s ({steps})",
        ]
        if self.memory is not None:
            lines.append(f"memory: {self.memory}")
        return "\n".join([*lines, "", *_aligned([COLUMNS, *self.cells()])])

    __repr__ = __str__


def report(
    kernels: Sequence[KernelInfo], compile_seconds: Mapping[str, float], memory: MemoryPlan | None
) -> Report:
    """The report of a model from the calls that it makes; the kernel with the most work first."""
    calls: dict[str, list[KernelInfo]] = {}
    for kernel in kernels:
        calls.setdefault(kernel.name, []).append(kernel)
    rows = [
        (
            name,
            len(same),
            sum(k.flops for k in same),
            sum(k.traffic for k in same),
            tuple(dict.fromkeys(module for k in same for module in k.origin)),
        )
        for name, same in calls.items()
    ]
    return Report(
        rows=tuple(sorted(rows, key=lambda row: -row[2])),
        ops=sum(len(k.ops) for k in kernels),
        kernels=len(kernels),
        flops=sum(k.flops for k in kernels),
        traffic=sum(k.traffic for k in kernels),
        compile_seconds=dict(compile_seconds),
        memory=memory,
    )


def kernel_info(name: str, node: Node) -> KernelInfo:
    """What there is to say about a node that runs as a kernel of this name, or with numpy."""
    ops = tuple(n.op for n in node.attrs["body"].ops) if node.op == "fused" else (node.op,)
    return KernelInfo(name, ops, node.origin, flops(node), traffic(node))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _short(origin: tuple[str, ...]) -> str:
    more = f" and {len(origin) - 2} more" if len(origin) > 2 else ""
    return ", ".join(origin[:2]) + more


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(COLUMNS))]
    lines = []
    for name, *numbers, origin in rows:
        cells = [name.ljust(widths[0])]
        cells += [n.rjust(w) for n, w in zip(numbers, widths[1:], strict=False)]
        lines.append("  ".join([*cells, origin]).rstrip())
    return lines
