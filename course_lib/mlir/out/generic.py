"""One loop form -> one `linalg.generic`: domain, maps and body are said the same way in both.

    for m in 0..8 { for n in 0..16 { acc = 0;  for k in 0..4 { acc += x0[m, k] * x1[k, n] } } }
    ==>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x16xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
                                          affine_map<(d0, d1, d2) -> (d2, d1)>,
                                          affine_map<(d0, d1, d2) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%a, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%f : tensor<8x16xf32>) {
    ^bb0(%in0: f32, %in1: f32, %acc0: f32):
      %t0 = arith.mulf %in0, %in1 : f32
      %t1 = arith.addf %acc0, %t0 : f32
      linalg.yield %t1 : f32
    } -> tensor<8x16xf32>

The extent of a loop is not written: it is the size of an axis that the loop alone indexes. So a
loop that no operand has like that (the window of a pool) gets an operand for its extent, which the
body does not read. Next room: `pieces.py`, for ops that write their result in several pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from course_lib.ir.expr import Affine, Expr, Load, LoopForm, cast, loads
from course_lib.ir.graph.node import Node
from course_lib.ir.scalar import accumulator, identity
from course_lib.ir.types import TensorType
from course_lib.lower.lowering import widened
from course_lib.mlir.out.body import Body
from course_lib.mlir.out.scalars import scalar
from course_lib.mlir.out.writer import Value, Writer, affine_map, element, location, number, tensor


class Read(NamedTuple):
    """An operand of a generic: a tensor, and the element of it that a point reads."""

    tensor: Value
    at: tuple[Affine, ...]


def generic(w: Writer, node: Node, form: LoopForm, operands: Sequence[Value], out: Value,
            write: tuple[Affine, ...], name: str = "") -> Value:  # fmt: skip
    """One form of the node's op, its results written into (a new version of) the tensor `out`.

    out     what the result is where the form does not write; if the form combines, what it
            combines with, in the type of the sums
    write   where in `out` a point goes
    """
    loops = (*form.domain, *form.reduce)
    expr = point_value(node, form)
    reads, arguments = _reads(w, node, expr, operands, dict(loops))
    windows = _windows(w, loops, [*(r.at for r in reads), write])
    ins = [*(r.tensor for r in reads), *(v for v, _ in windows)]
    outs, writes = [out], [write]
    if form.running:  # the sum so far is a result, too, with a place of its own
        outs.append(_sums(w, node, form))
        writes.append(tuple(Affine.var(v) for v, _ in form.domain))
    result = name or w.fresh("g")
    maps = [*(r.at for r in reads), *(at for _, at in windows), *writes]
    _head(w, result + ":2" * bool(form.running), loops, len(form.domain), maps, ins, outs)
    with w.indented():
        body = Body(w, operands, arguments, [v for v, _ in loops])
        _yield(w, node, form, body, expr, outs)
    types = ", ".join(o.type for o in outs)
    w.line(f"}} -> {f'({types})' if form.running else types}{location(node.origin)}")
    return Value(f"{result}#0" if form.running else result, out.type)


def point_value(node: Node, form: LoopForm) -> Expr:
    """What a form computes at a point, its operands named by their numbers; in the type of sums."""
    expr = form.body(lambda k, *at: Load(str(k), at, node.inputs[k].type.dtype))
    narrow = node.type.dtype
    return widened(expr, narrow, accumulator(narrow)) if form.reduce else expr


def _yield(w: Writer, node: Node, form: LoopForm, body: Body, expr: Expr, outs: list[Value]):
    """The end of the body: the value, combined with the one that is there."""
    value = body.value(expr)
    narrow = node.type.dtype
    wide = accumulator(narrow)
    if not form.reduce:
        w.line(f"linalg.yield {value.name} : {value.type}")
        return
    old = Value(f"%acc{len(outs) - 1}", element(wide))
    new = scalar(w, form.combine, [old, value], [wide, wide], wide)
    if not form.running:
        w.line(f"linalg.yield {new.name} : {new.type}")
        return
    shown = new if form.running == "after" else old
    shown = scalar(w, "cast", [shown], [wide], narrow)
    w.line(f"linalg.yield {shown.name}, {new.name} : {shown.type}, {new.type}")


def _head(w: Writer, result: str, loops, parallel: int, maps, ins: list[Value], outs: list[Value]):
    dims = [v for v, _ in loops]
    shown = [affine_map(dims, at) for at in maps]
    kinds = ['"parallel"'] * parallel + ['"reduction"'] * (len(dims) - parallel)
    w.line(f"{result} = linalg.generic {{indexing_maps = [{', '.join(shown)}], "
           f"iterator_types = [{', '.join(kinds)}]}}")  # fmt: skip
    w.line(f"    {typed('ins', ins) + ' ' if ins else ''}{typed('outs', outs)} {{")
    arguments = [f"%in{k}: {_element_of(v)}" for k, v in enumerate(ins)]
    arguments += [f"%acc{k}: {_element_of(v)}" for k, v in enumerate(outs)]
    w.line(f"^bb0({', '.join(arguments)}):")


def typed(word: str, values: Sequence[Value]) -> str:
    """ins(%a, %b : f32, f32)"""
    names, types = (", ".join(column) for column in zip(*values, strict=True))
    return f"{word}({names} : {types})"


def _element_of(value: Value) -> str:
    return value.type.removesuffix(">").rpartition("x")[2].rpartition("<")[2]


def _reads(w: Writer, node: Node, expr: Expr, operands: Sequence[Value], extents: dict[str, int]):
    """The operands of the generic, and which argument of its region has the value of which load."""
    reads: list[Read] = []
    arguments: dict[Expr, Value] = {}
    for load in dict.fromkeys(loads(expr)):
        at = tuple(i for i in load.indices if isinstance(i, Affine))
        if len(at) == len(load.indices):
            type = node.inputs[int(load.buffer)].type
            arguments[load] = Value(f"%in{len(reads)}", element(type.dtype))
            narrowed = _narrowed(w, operands[int(load.buffer)], type, at, extents)
            reads.append(Read(narrowed, at))
    return reads, arguments


def _narrowed(
    w: Writer, operand: Value, type: TensorType, at: tuple[Affine, ...], extents
) -> Value:
    """The operand itself; cut where a loop is shorter than the axis that it indexes alone."""
    sizes = tuple(
        extents[var] if (var := alone(index)) is not None else size
        for index, size in zip(at, type.dims, strict=True)
    )
    if sizes == type.dims:
        return operand
    result, small = w.fresh("s"), tensor(type.with_shape(sizes))
    where = f"{[0] * len(sizes)} {list(sizes)} {[1] * len(sizes)}"
    w.line(f"{result} = tensor.extract_slice {operand.name}{where} : {operand.type} to {small}")
    return Value(result, small)


def alone(index: Affine) -> str | None:
    """The loop variable that an index is, if it is nothing else."""
    return index.vars[0] if index.vars and index == Affine.var(index.vars[0]) else None


def _windows(w: Writer, loops, maps) -> list[tuple[Value, tuple[Affine, ...]]]:
    """An operand with the extents of the loops that no other operand shows."""
    seen = {alone(index) for at in maps for index in at}
    hidden = [(var, extent) for var, extent in loops if var not in seen]
    if not hidden:
        return []
    type = f"tensor<{''.join(f'{n}x' for _, n in hidden)}i1>"
    return [(empty(w, type), tuple(Affine.var(v) for v, _ in hidden))]


def empty(w: Writer, type: str, name: str = "") -> Value:
    """A tensor of which only the shape counts."""
    result = name or w.fresh("e")
    w.line(f"{result} = tensor.empty() : {type}")
    return Value(result, type)


def filled(w: Writer, type: TensorType, value: float | int | bool) -> Value:
    """A tensor with one number everywhere."""
    zero = w.constant(number(value, type.dtype), element(type.dtype))
    start, result = empty(w, tensor(type)), w.fresh("f")
    w.line(
        f"{result} = linalg.fill {typed('ins', [zero])} {typed('outs', [start])} -> {start.type}"
    )
    return Value(result, start.type)


def _sums(w: Writer, node: Node, form: LoopForm) -> Value:
    """Where running sums are kept: one for each point of the domain."""
    wide = accumulator(node.type.dtype)
    type = TensorType(wide, tuple(n for _, n in form.domain))
    return filled(w, type, identity(form.combine, wide))


def rounded(w: Writer, value: Value, type: TensorType, node: Node, name: str = "") -> Value:
    """Sums, each in the narrower type of the result."""
    wide = accumulator(type.dtype)
    at = tuple(Affine.var(f"i{k}") for k in range(type.rank))
    loops = [(f"i{k}", n) for k, n in enumerate(type.dims)]
    result, out = name or w.fresh("g"), empty(w, tensor(type))
    _head(w, result, loops, len(loops), [at, at], [value], [out])
    with w.indented():
        old = Value("%in0", element(wide))
        new = Body(w, [], {Load("0", at, wide): old}, []).value(
            cast(Load("0", at, wide), type.dtype)
        )
        w.line(f"linalg.yield {new.name} : {new.type}")
    w.line(f"}} -> {out.type}{location(node.origin)}")
    return Value(result, out.type)


def start_of(w: Writer, node: Node, form: LoopForm) -> Value:
    """What the results are combined with: what changes nothing; a tensor without values if the
    form combines nothing."""
    wide = accumulator(node.type.dtype)
    if not form.reduce or form.running:
        return empty(w, tensor(node.type))
    return filled(w, TensorType(wide, node.type.shape), identity(form.combine, wide))
