"""Lowering a recurrence: the kernels of its body, in order, inside one loop over the steps.

    %h = scan(%h0, %xs, %r) {body = tanh(%x + %h @ %r)} : f32[100,1,8]
    ==>
    local state: f32[1,8]
    for i { state[0, i] = x0[0, i] }
    for step in 0..100 {
      local v0: f32[1,8]
      for n { acc = 0;  for k { acc += state[0, k] * x2[k, n] };  v0[0, n] = acc + x1[step, 0, n] }
      for i { out[step, 0, i] = tanh(v0[0, i]) }
      for i { state[0, i] = out[step, 0, i] } }

A value of the body is a local, an element of a sequence is `x1[step, ...]`, the next state is
`out[step, ...]`. Next room: `course_lib/schedule/primitives/at.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from course_lib.ir.expr import Affine, Expr, Load, Point, literal
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.loops.nest import Buffer, Kernel, Local, Loop, Stmt, Store, Write
from course_lib.ir.loops.walk import named_apart, on_loads, rewrite, statements
from course_lib.ir.types import TensorType
from course_lib.lower.lowering import nest
from course_lib.passes.infra.bodies import on_bodies

STACK = 2 << 20  # bytes of all locals together, of which a thread has a few megabytes,
LOCAL = 1 << 20  # and of one of them: `llvm/emit.py` takes no more
STEP = "step"

LowerNode = Callable[[Node, str], Kernel | None]
Place = tuple[str, Point]  # a buffer, and the first indices of every access to it


def lower_scan(node: Node, name: str, lower_node: LowerNode) -> Kernel | None:
    """The kernel of a scan; None if an op of its body has no loops, or if the values of a step are
    too big for the stack. Then numpy runs the body, step by step."""
    body: Graph = node.attrs["body"]
    values = [Buffer(f"v{k}", member.type) for k, member in enumerate(body.ops)]
    state = Buffer("state", node.inputs[0].type)
    if any(c.value.size != 1 for c in body.constants):  # `with_operands` has not been here
        return None
    scan = _Scan(node, state, values)
    kernels = [_reshape(n) if n.op == "reshape" else lower_node(n, n.op) for n in body.ops]
    inside: list[Stmt] = []
    for member, value, kernel in zip(body.ops, values, kernels, strict=True):
        if kernel is None:
            return None
        inside += [] if member is scan.result else [Local(value)]
        inside += scan.inlined(kernel, member)
    whole = scan.kernel(name, inside)
    sizes = [s.buffer.type.nbytes for s in statements(whole.body) if isinstance(s, Local)]
    return None if max(sizes) > LOCAL or sum(sizes) > STACK else whole


class _Scan:
    """Where each value of the body lies, while the loop is at one step."""

    def __init__(self, node: Node, state: Buffer, values: Sequence[Buffer]) -> None:
        body, count = node.attrs["body"], node.attrs["sequences"]
        self.node, self.state, self.result = node, state, body.outputs[0]
        self.params = [*(Buffer(f"x{k}", n.type) for k, n in enumerate(node.inputs)),
                       Buffer("out", node.type)]  # fmt: skip
        self.steps = node.type.dims[0]
        step = Affine.var(STEP)
        now: Point = (step * -1 + (self.steps - 1) if node.attrs["reverse"] else step,)
        self.next: Place = ("out", now)
        self.place: dict[Node, Place] = {}
        for k, n in enumerate(body.inputs):
            self.place[n] = (f"x{k}", now if k <= count else ())
        self.place[body.inputs[0]] = (state.name, ())
        for n, value in zip(body.ops, values, strict=True):
            self.place[n] = self.next if n is self.result else (value.name, ())
        self.names = {STEP, state.name, *(b.name for b in (*self.params, *values))}

    def read(self, node: Node, at: Point) -> Expr:
        if node.op == "constant":
            return literal(node.value.reshape(()).item(), node.type.dtype)
        buffer, first = self.place[node]
        return Load(buffer, (*first, *at), node.type.dtype)

    def inlined(self, kernel: Kernel, member: Node) -> tuple[Stmt, ...]:
        """The body of a kernel that computes `member`, on the places of its operands."""
        kernel = named_apart(kernel, self.names)
        operand = {p.name: n for p, n in zip(kernel.params[:-1], member.inputs, strict=True)}
        out, (buffer, first) = kernel.out.name, self.place[member]

        def load(e: Load) -> Expr:
            if e.buffer == out:
                return self.read(member, e.indices)
            return self.read(operand[e.buffer], e.indices) if e.buffer in operand else e

        def placed(stmt: Stmt) -> tuple[Stmt, ...]:
            if isinstance(stmt, Write) and stmt.buffer == out:
                stmt = replace(stmt, buffer=buffer, indices=(*first, *stmt.indices))
            return (stmt,)

        return rewrite(on_loads(kernel.body, load), placed)

    def kernel(self, title: str, inside: list[Stmt]) -> Kernel:
        """The loop over the steps, around what one step computes."""
        name, type = self.state.name, self.state.type

        def now(at: Point) -> Point:
            return (*self.next[1], *at)

        if self.result not in self.node.attrs["body"].ops:  # an operand, as it is
            inside = each(type, lambda at: Store("out", now(at), self.read(self.result, at)))
        inside += each(type, lambda at: Store(name, at, Load("out", now(at), type.dtype)))
        start = each(type, lambda at: Store(name, at, Load("x0", at, type.dtype)))
        loop = Loop(STEP, Affine(), Affine((), self.steps), tuple(inside))
        return Kernel(
            title, tuple(self.params), (Local(self.state), *start, loop), self.node.origin
        )


def each(type: TensorType, store: Callable[[Point], Store]) -> list[Stmt]:
    """Loops over all points of a tensor, around what is stored at each."""
    domain = [(f"i{axis}", size) for axis, size in enumerate(type.dims) if size != 1]
    at = [Affine.var(f"i{k}") if n != 1 else Affine() for k, n in enumerate(type.dims)]
    return nest(domain, [store(tuple(at))])


def _reshape(node: Node) -> Kernel:
    """Between kernels a reshape is a view. A local has one shape: its elements are copied, in the
    order of memory, to a list of numbers and from there."""
    x, out = Buffer("x0", node.inputs[0].type), Buffer("out", node.type)
    dtype, flat = out.type.dtype, Buffer("flat", TensorType(out.type.dtype, (out.type.numel,)))
    into = each(x.type, lambda at: Store("flat", _position(x.type, at), Load("x0", at, dtype)))
    from_ = each(
        out.type, lambda at: Store("out", at, Load("flat", _position(out.type, at), dtype))
    )
    return Kernel("reshape", (x, out), (Local(flat), *into, *from_))


def _position(type: TensorType, at: Point) -> Point:
    """Where an element is in the order of memory."""
    index = Affine()
    for i, size in zip(at, type.dims, strict=True):
        index = index * size + i  # type: ignore[operator]
    return (index,)


def with_operands(graph: Graph) -> Graph:
    """The graph in which a constant of a body that is more than a number is an operand of the scan:
    so that it lies in memory once, and a schedule may pack it."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node.op != "scan":
            return None
        body: Graph = node.attrs["body"]
        large = [c for c in body.constants if c.value.size != 1]
        new = {c: inp(f"c{k}", c.type) for k, c in enumerate(large)}
        moved = body.rebuild(lambda n, _: new.get(n))
        parameters = [*body.inputs, *new.values()]
        whole = Graph.of(parameters, moved.outputs, body.name, also=moved.nodes)
        return apply("scan", *inputs, *large, **{**node.attrs, "body": whole}, name=node.name,
                     origin=node.origin)  # fmt: skip

    return on_bodies(graph, with_operands).rebuild(visit)
