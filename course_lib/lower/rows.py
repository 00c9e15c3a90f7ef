"""Lowering a rowwise group: several reductions along the same last axes, one row at a time.

    m = reduce_max(x); e = exp(x - m); s = reduce_sum(e); y = e / s      // softmax, one kernel
    ==>
    for i in 0..8 {
      local row0: f32[10]                           // e is needed twice: it stays in fast memory
      acc0 = -inf;  for r { acc0 max= x[i, r] }
      acc1 = 0;     for r { row0[r] = exp(x[i, r] - acc0);  acc1 += row0[r] }
                    for r { out[i, r] = row0[r] / acc1 } }

The reductions form *phases*: one that needs the result of another runs after it. Everything else is
inlined as in `lowering.py`. Next room: `scans.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.ir.expr import Affine, Expr, Load, Point, cast, literal
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Stmt, Store
from course_lib.ir.scalar import accumulator, identity
from course_lib.ir.types import TensorType
from course_lib.lower.lowering import Lowering, forms_of, nest, without_units


class Rowwise(Lowering):
    """`kernel()` writes one loop nest over the rows, with all phases inside."""

    def __init__(self, group: Graph, name: str, origin: tuple[str, ...]) -> None:
        super().__init__(group, name, origin)
        self.reductions = [n for n in group.ops if any(f.reduce for f in forms_of(n))]
        self.shape = self.reductions[0].inputs[0].type.shape  # of everything that has a whole row
        self.form, self.units = without_units(forms_of(self.reductions[0])[0])
        self.point = self._point()
        self.row = tuple(Affine.var(var) for var, _ in self.form.reduce)  # the place in the row
        self.phase_of = self._phases()
        self.kept = {n: f"row{k}" for k, n in enumerate(self._kept())}
        self.rows: dict[tuple[Node, Point], Expr] = {}  # values that outlive the loop of a phase

    def _anchor(self) -> Node | None:
        return None  # there are several: `self.reductions`

    def kernel(self) -> Kernel:
        sizes = tuple(extent for _, extent in self.form.reduce)
        body: list[Stmt] = [
            Local(Buffer(name, TensorType(node.type.dtype, sizes)))
            for node, name in self.kept.items()
        ]
        for phase in range(1, self.last_phase):
            body += self._reduce([n for n in self.reductions if self.phase_of[n] == phase])
            body += self._once_per_row(phase)
        body += self._result()
        out = Buffer("out", self.root.type)
        nested = nest(self.form.domain, body)
        return Kernel(self.name, (*self.params, out), tuple(nested), self.origin)

    @property
    def last_phase(self) -> int:
        """The phase after the last reduction, in which the result is written."""
        return 1 + max(self.phase_of[n] for n in self.reductions)

    def _point(self) -> Point:
        """The element of a whole row that the loops are at: what the reductions read."""
        read = forms_of(self.reductions[0])[0].body(lambda k, *at: at)  # type: ignore[arg-type]
        return tuple(index.substitute(self.units) for index in read)  # type: ignore[union-attr]

    def _phases(self) -> dict[Node, int]:
        """How many reductions, one after another, each value has behind it."""
        phase: dict[Node, int] = {}
        for node in self.group.nodes:
            phase[node] = max((phase[i] for i in node.inputs), default=0)
            phase[node] += node in self.reductions
        return phase

    def _kept(self) -> list[Node]:
        """The values with a whole row that are computed in one phase and needed in a later one."""
        computed: dict[Node, int] = {}
        kept: list[Node] = []
        ends = [(self.phase_of[n], n.inputs[0]) for n in self.reductions]
        for phase, end in [*sorted(ends, key=lambda e: e[0]), (self.last_phase, self.root)]:
            queue = [end]
            while queue:
                node = queue.pop()
                if not self._has_row(node) or computed.get(node) == phase:
                    continue
                if node in computed:
                    kept += [node] if node not in kept else []
                    continue
                computed[node] = phase
                queue += node.inputs
        return kept

    def _has_row(self, node: Node) -> bool:
        """Is this a member that is computed for each element of a row?"""
        computed = node not in self.position and node not in self.reductions
        return computed and node.op != "constant" and node.type.shape == self.shape

    def _reduce(self, reductions: Sequence[Node]) -> list[Stmt]:
        """acc = identity; for r { acc combine= value }, for all of one phase together."""
        self.block, self.known = [], dict(self.rows)
        start: list[Stmt] = []
        updates: list[Stmt] = []
        for node in reductions:
            form, units = without_units(forms_of(node)[0])
            narrow = node.type.dtype
            wide = accumulator(narrow)
            acc = f"acc{self.reductions.index(node)}"
            current = Load(acc, (), wide)
            value = cast(self._body(node, form, units), wide)
            start += [
                Local(Buffer(acc, TensorType(wide, ()))),
                Store(acc, (), literal(identity(form.combine, wide), wide)),
            ]
            updates.append(Accumulate(acc, (), form.combine, value))
            self.rows[node, form.write] = cast(current, narrow)
        return [*start, *nest(self.form.reduce, [*self.block, *updates])]

    def _once_per_row(self, phase: int) -> list[Stmt]:
        """Numbers for each row, such as 1 / sqrt(variance), that a whole row will need."""
        small = self.reductions[0].type.shape
        needed = {i for n in self.group.ops if n.type.shape == self.shape for i in n.inputs}
        now = [n for n in self.group.ops if n in needed and self.phase_of[n] == phase]
        self.block, self.known = [], dict(self.rows)
        for node in now:
            if node.type.shape == small and node not in self.reductions:
                at = self.form.write
                self.rows[node, at] = self._name(self.value(node, at))
        return self.block

    def _result(self) -> list[Stmt]:
        self.block, self.known = [], dict(self.rows)
        whole = self.root.type.shape == self.shape
        at = self.point if whole else self.form.write
        value = self.value(self.root, at)
        store = [*self.block, Store("out", at, value)]
        return nest(self.form.reduce, store) if whole else store

    def shared(self, node: Node, at: Point, expr: Expr) -> Expr:
        if node not in self.kept or at != self.point:
            return super().shared(node, at, expr)
        name = self.kept[node]
        self.block.append(Store(name, self.row, expr))
        self.rows[node, at] = Load(name, self.row, node.type.dtype)
        return self.rows[node, at]
