"""What a model cost: compile seconds, kernels with their work, memory. As text, HTML and JSON.

print(run.report())

kernel               calls   MFLOP     MB  from
conv_add_relu_0          4    231.2   1.75  layer1.0.conv1, ...

Next room: `course_lib/compiler.py`, the front door.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.runtime.executable import Executable

COLUMNS = ("kernel", "calls", "MFLOP", "MB", "from")


@dataclass(frozen=True)
class Report:
    """`rows` holds one entry for each distinct kernel: (name, calls, flops, bytes, origins)."""

    rows: tuple[tuple[str, int, int, int, tuple[str, ...]], ...]
    ops: int
    kernels: int
    flops: int
    traffic: int
    compile_seconds: dict[str, float]
    memory: Any

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
            f"{self.ops} ops in {self.kernels} kernels ({len(self.rows)} distinct), "
            f"{self.flops / 1e6:.4g} MFLOP, {self.traffic / 1e6:.4g} MB moved",
            f"compiled in {total:.2f} s ({steps})",
        ]
        if self.memory is not None:
            lines.append(f"memory: {self.memory}")
        return "\n".join([*lines, "", *_aligned([COLUMNS, *self.cells()])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from course_lib.draw.base.listing import listing

        return listing("What it cost", str(self)).html


def report(run: Executable) -> Report:
    """Gather the report of an executable."""
    rows: dict[str, list] = {}
    for kernel in run.kernels:
        row = rows.setdefault(kernel.name, [0, 0, 0, {}])
        row[0] += 1
        row[1] += kernel.flops
        row[2] += kernel.traffic
        row[3].update(dict.fromkeys(kernel.origin))
    ordered = sorted(rows.items(), key=lambda item: -item[1][1])
    return Report(
        rows=tuple((name, c, f, t, tuple(origin)) for name, (c, f, t, origin) in ordered),
        ops=sum(len(k.ops) for k in run.kernels),
        kernels=len(run.kernels),
        flops=sum(k.flops for k in run.kernels),
        traffic=sum(k.traffic for k in run.kernels),
        compile_seconds=dict(run.compile_seconds),
        memory=run.memory,
    )


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
