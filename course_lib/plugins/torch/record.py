"""What became of each graph that torch.compile gave us: what is ours, what is not, and why.

    print(report())

    2 graphs, 9 ops: 8 in kernels of ours, 1 left to PyTorch
    1. inference (net.py:12): 5 ops in 1 region, compiled 1 time, 2 kernels
         matmul_add_relu_0  from fc (net.py:12), relu (net.py:12)
    2. ...
         left to PyTorch: aten._fft_r2c.default of net.py:14: this compiler has no rule for it

A region is compiled in its first call: before that, its kernels are not there. Next room:
`plugins/report.py`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from course_lib.runtime.executable import counted
from course_lib.runtime.report import KernelInfo


@dataclass(frozen=True)
class Left:
    """An op that PyTorch runs: its name, where it stands in the model, why it is not ours."""

    op: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.op} of {self.where}: {self.why}"


@dataclass(eq=False)
class GraphRecord:
    """One graph. It grows while the graph is compiled.

    kind     "inference", or in training "forward" or "backward"
    ops      how many ops there are; what picks one of several results, or computes a size, is none
    regions  in how many regions those stand that are ours
    sizes    for how many sets of sizes a region was compiled, or compiled again for new weights
    left     what PyTorch runs, by the name of the node
    lines    for the path of a module the lines of the model that called its ops
    kernels  of the code that was compiled last, by region
    notes    weights that became inputs, and why
    failed   what was ours, and then failed while it was compiled, or while it ran: for those sizes
             PyTorch runs the region
    """

    kind: str
    where: str
    ops: int = 0
    regions: int = 0
    sizes: int = 0
    left: dict[str, Left] = field(default_factory=dict)
    lines: dict[str, set[str]] = field(default_factory=dict)
    kernels: dict[str, tuple[KernelInfo, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def compiled(self) -> int:
        return self.ops - len(self.left)

    def fail(self, why: str) -> None:
        """Each reason once: it may come in every call."""
        if why not in self.failed:
            self.failed.append(why)

    def source(self, kernel: KernelInfo) -> str:
        """Where a kernel comes from: paths of modules, with lines of the model."""
        return ", ".join(
            f"{path} ({', '.join(sorted(lines))})" if (lines := self.lines.get(path)) else path
            for path in kernel.origin
        )

    def __str__(self) -> str:
        kernels = [kernel for each in self.kernels.values() for kernel in each]
        head = (
            f"{self.kind} ({self.where}): {counted(self.compiled, 'op')} in "
            f"{counted(self.regions, 'region')}, compiled {counted(self.sizes, 'time')}, "
            f"{counted(len(kernels), 'kernel')}"
        )
        return "\n     ".join(
            [
                head,
                *(f"{k.name}  from {self.source(k)}" for k in kernels),
                *(f"left to PyTorch: {left}" for left in self.left.values()),
                *self.notes,
                *(f"failed, PyTorch takes its place: {why}" for why in self.failed),
            ]
        )


@dataclass(frozen=True)
class Report:
    """All graphs since the program began, or since `torch.compiler.reset()`."""

    graphs: tuple[GraphRecord, ...]

    @property
    def ops(self) -> int:
        return sum(graph.ops for graph in self.graphs)

    @property
    def compiled(self) -> int:
        return sum(graph.compiled for graph in self.graphs)

    @property
    def left(self) -> list[Left]:
        return [left for graph in self.graphs for left in graph.left.values()]

    @property
    def failed(self) -> list[str]:
        return [why for graph in self.graphs for why in graph.failed]

    def __str__(self) -> str:
        head = (
            f"{counted(len(self.graphs), 'graph')}, {counted(self.ops, 'op')}: "
            f"{self.compiled} in kernels of ours, {len(self.left)} left to PyTorch"
        )
        return "\n".join([head, *(f"{k}. {graph}" for k, graph in enumerate(self.graphs, 1))])

    __repr__ = __str__


_RECORDS: deque[GraphRecord] = deque(maxlen=1000)  # a program may compile without end


def report() -> Report:
    """What became of the graphs so far."""
    return Report(tuple(_RECORDS))


def begin(kind: str, where: str) -> GraphRecord:
    """A record for a new graph."""
    _RECORDS.append(GraphRecord(kind, where))
    return _RECORDS[-1]


def forget(*_: Any) -> None:
    """`torch.compiler.reset()` throws away the graphs; so do we."""
    _RECORDS.clear()
