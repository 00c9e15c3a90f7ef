"""One group -> one kernel. The loop form of each op is in its row of the op table.

    %0 = matmul(%a, %b) : f32[8,16]
    ==>
    for m in 0..8 { for n in 0..16 {
      local acc: f32[]
      acc[] = 0.0
      for k in 0..4 { acc[] += x0[m, k] * x1[k, n] }
      out[m, n] = acc[] } }

A fused group lowers to *one* kernel by inlining: where the body of an op asks for the value of an
operand at a point, and the operand is computed inside the group, its own body answers. Nothing else
is needed for vertical fusion. Next room: `rows.py`, several reductions in one kernel.

Reading path, 9 of 12; next: `schedule/primitives/split.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from course_lib.ir.expr import (
    Affine,
    Call,
    Const,
    Expr,
    Load,
    LoopForm,
    Point,
    cast,
    literal,
    transform,
)
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.loops.walk import rewrite
from course_lib.ir.registry import op as op_row
from course_lib.ir.scalar import accumulator, identity
from course_lib.ir.types import DType, TensorType


class Lowering:
    """Lowers one group. `value(node, point)` is the heart; the rest builds loops around it."""

    def __init__(self, group: Graph, name: str, origin: tuple[str, ...]) -> None:
        self.group, self.name, self.origin = group, name, origin
        self.root = group.outputs[0]
        self.params = [Buffer(f"x{k}", n.type) for k, n in enumerate(group.inputs)]
        self.position = {n: k for k, n in enumerate(group.inputs)}
        self.users = group.users()
        self.anchor = self._anchor()
        self.block: list[Stmt] = []  # where shared values are computed: the innermost open block
        self.known: dict[tuple[Node, Point], Expr] = {}
        self.temporaries = 0

    def kernel(self) -> Kernel:
        """The loops of the anchor, or of the last op, with all others inlined into them."""
        out = Buffer("out", self.root.type)
        body: list[Stmt] = []
        pad = self.root if self._pads() else None
        if pad is not None:  # fill the border; the rest of the group computes what is inside
            for form in forms_of(pad)[:-1]:
                body += self._plain(form)
            self.root = pad.inputs[0]
        inside: list[Stmt] = []
        if self.anchor is not None:
            inside += self._combining(forms_of(self.anchor)[0])
        else:
            for form in forms_of(self.root):
                inside += self._plain(form)
        body += inside if pad is None else _written_into(forms_of(pad)[-1], inside)
        return Kernel(self.name, (*self.params, out), tuple(body), self.origin)

    def _anchor(self) -> Node | None:
        """The one op of the group that has loops which combine values."""
        combining = [n for n in self.group.ops if any(f.reduce for f in forms_of(n))]
        if len(combining) > 1:
            ops = ", ".join(n.op for n in combining)
            raise ValueError(f"a fused group can hold one reduction or contraction, got {ops}")
        return combining[0] if combining else None

    def _pads(self) -> bool:
        """Does the group end with a pad of what it computes?"""
        return self.root.op == "pad" and self.root.inputs[0] not in self.position

    def _plain(self, form: LoopForm) -> list[Stmt]:
        """for domain { out[write] = body }, or out[place] combine= body"""
        self.block, self.known = [], {}
        writes: list[Stmt] = []
        for part in (form, *form.also):
            inner, units = without_units(part)
            value = self._body(self.root, inner, units)
            at = self._place(self.root, inner, units)
            if inner.place and inner.combine:
                writes.append(Accumulate("out", at, inner.combine, value))
            else:
                writes.append(Store("out", at, value))
        return nest(without_units(form)[0].domain, [*self.block, *writes])

    def _combining(self, form: LoopForm) -> list[Stmt]:
        """for domain { acc = identity; for reduce { acc combine= body }; out = epilogue }

        A running form stores inside the loop, after or before it combines.
        """
        assert self.anchor is not None
        form, units = without_units(form)
        narrow = self.anchor.type.dtype
        wide = accumulator(narrow)
        current = Load("acc", (), wide)
        self.block, self.known = [], {}
        point = widened(self._body(self.anchor, form, units), narrow, wide)
        update = [*self.block, Accumulate("acc", (), form.combine, point)]
        self.block, self.known = [], {(self.anchor, form.write): cast(current, narrow)}
        result = self.value(self.root, form.write)
        start = [
            Local(Buffer("acc", TensorType(wide, ()))),
            Store("acc", (), literal(identity(form.combine, wide), wide)),
        ]
        store = [*self.block, Store("out", form.write, result)]
        loop = {
            "": [*nest(form.reduce, update), *store],
            "after": nest(form.reduce, [*update, *store]),
            "before": nest(form.reduce, [*store, *update]),
        }
        return nest(form.domain, [*start, *loop[form.running]])

    def value(self, node: Node, at: Point) -> Expr:
        """The value of `node` at a point, as an expression over the kernel's parameters."""
        if (node, at) in self.known:
            return self.known[node, at]
        if node in self.position:
            return Load(f"x{self.position[node]}", at, node.type.dtype)
        if node.op == "constant":
            return self._constant(node)
        form = self._inlinable(node)
        expr = self._body(node, form, _variables_at(form, at, node))
        self.known[node, at] = self.shared(node, at, expr)
        return self.known[node, at]

    def shared(self, node: Node, at: Point, expr: Expr) -> Expr:
        """How the users of a value read it: by name where there are several of them."""
        return self._name(expr) if len(self.users[node]) > 1 else expr

    def _body(self, node: Node, form: LoopForm, here: dict[str, Affine]) -> Expr:
        """The op's own body, its variables moved to `here`, its operands replaced by values."""
        return self._moved(form.body(_operands(node)), node, here)

    def _place(self, node: Node, form: LoopForm, here: dict[str, Affine]) -> Point:
        """Where a result of the op goes, in the same way if data decides that."""
        if form.place is None:
            return form.write
        at = form.place(_operands(node))
        return tuple(i.substitute(here) if isinstance(i, Affine) else self._moved(i, node, here)
                     for i in at)  # fmt: skip

    def _moved(self, own: Expr, node: Node, here: dict[str, Affine]) -> Expr:
        return transform(
            own,
            index=lambda affine: affine.substitute(here),
            load=lambda e: self.value(node.inputs[int(e.buffer)], e.indices),
        )

    def _constant(self, node: Node) -> Expr:
        if node.value.size != 1:
            raise ValueError(f"a constant inside a group must be a single number, got {node!r}")
        return literal(node.value.reshape(()).item(), node.type.dtype)

    def _inlinable(self, node: Node) -> LoopForm:
        forms = forms_of(node)
        if len(forms) != 1 or forms[0].reduce:
            raise ValueError(
                f"{node.op} has no value point by point, so it cannot be fused: {node!r}"
            )
        return forms[0]

    def _name(self, expr: Expr) -> Expr:
        """Compute a shared value once: store it in a temporary of the open block."""
        temporary = Buffer(f"t{self.temporaries}", TensorType(expr.dtype, ()))
        self.temporaries += 1
        self.block += [Local(temporary), Store(temporary.name, (), expr)]
        return Load(temporary.name, (), expr.dtype)


def _operands(node: Node) -> Callable[..., Expr]:
    """How a form reads the operands of its op: by their numbers."""
    return lambda k, *at: Load(str(k), at, node.inputs[k].type.dtype)


def forms_of(node: Node) -> list[LoopForm]:
    loops = op_row(node.op).loops
    return loops(node.type, [i.type for i in node.inputs], node.attrs) if loops else []


def _written_into(pad: LoopForm, body: list[Stmt]) -> tuple[Stmt, ...]:
    """The body with its results where `pad`, which copies them, would put them."""

    def moved(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Store) and stmt.buffer == "out":
            at = zip(pad.domain, stmt.indices, strict=True)
            here = {v: i for (v, _), i in at if isinstance(i, Affine)}
            stmt = replace(stmt, indices=tuple(i.substitute(here) for i in pad.write))
        return (stmt,)

    return rewrite(tuple(body), moved)


def _variables_at(form: LoopForm, at: Point, node: Node) -> dict[str, Affine]:
    """What the form's own variables are at a point of its result."""
    here = {}
    for (var, _), written, index in zip(form.domain, form.write, at, strict=True):
        if written != Affine.var(var) or not isinstance(index, Affine):
            raise ValueError(f"{node.op} cannot be fused where the point depends on data: {node!r}")
        here[var] = index
    return here


def widened(expr: Expr, old: DType, new: DType) -> Expr:
    """The expression computed in `new` where it was in `old`: its loads are cast."""
    match expr:
        case Load(dtype=dtype) if dtype == old:
            return cast(expr, new)
        case Const(value, dtype) if dtype == old:
            return literal(value, new)
        case Call(fn, args, dtype):
            wide = tuple(widened(a, old, new) for a in args)
            return Call(fn, wide, new if dtype == old else dtype)
    return expr


def without_units(form: LoopForm) -> tuple[LoopForm, dict[str, Affine]]:
    """The form without loops of one iteration, and their variables, which are 0."""
    units = {var: Affine() for var, extent in (*form.domain, *form.reduce) if extent == 1}
    domain, reduce = (
        tuple((var, extent) for var, extent in loops if extent != 1)
        for loops in (form.domain, form.reduce)
    )
    write = tuple(i.substitute(units) for i in form.write)
    return replace(form, domain=domain, reduce=reduce, write=write), units


def nest(domain: Iterable[tuple[str, int]], body: list[Stmt]) -> list[Stmt]:
    """The loops of a domain around a body, outermost first."""
    for var, extent in reversed(tuple(domain)):
        body = [Loop(var, Affine(), Affine((), extent), tuple(body))]
    return body
