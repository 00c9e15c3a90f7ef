"""A whole node: one generic, or several pieces that each become a part of the result.

    %0 = concat(%a, %b) {axis = 0} : f32[5]                // a: f32[2], b: f32[3]
    ==>
    %e = tensor.empty() : tensor<5xf32>
    %p0 = tensor.insert_slice %a into %e[0] [2] [1] : ...
    %p1 = tensor.insert_slice %b into %p0[2] [3] [1] : ...

A form that writes a regular part of its result computes a tensor of that part. Where data decides
the place (scatter), no map can say it: then there are loops, `scf.for`, which carry the tensor
along from one iteration to the next. Next room: `named.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from course_lib.ir.expr import Affine, Load, LoopForm
from course_lib.ir.graph.node import Node
from course_lib.ir.types import TensorType
from course_lib.lower.lowering import forms_of
from course_lib.mlir.out.body import Body
from course_lib.mlir.out.generic import alone, empty, generic, point_value, rounded, start_of
from course_lib.mlir.out.scalars import scalar
from course_lib.mlir.out.writer import Value, Writer, element, location, tensor


def by_loops(w: Writer, node: Node, operands: Sequence[Value], name: str) -> Value:
    """The node by the loop forms of its row, whose result has the name."""
    if node.type.numel == 0:
        return empty(w, tensor(node.type), name)
    forms = [one for form in forms_of(node) for one in (replace(form, also=()), *form.also)]
    forms = [f for f in forms if 0 not in dict(f.domain).values()]
    out = start_of(w, node, forms[0])
    for form in forms[:-1]:
        out = _form(w, node, form, operands, out)
    last = forms[-1]
    if out.type == tensor(node.type) or last.running:
        return _form(w, node, last, operands, out, name)
    return rounded(w, _form(w, node, last, operands, out), node.type, node, name)


def _form(w: Writer, node: Node, form: LoopForm, operands: Sequence[Value], out: Value,
          name: str = "") -> Value:  # fmt: skip
    if form.place is not None:
        return _scattered(w, node, form, operands, out, name)
    part = _part(form, node.type)
    if part is None:
        return generic(w, node, form, operands, out, form.write, name)
    offsets, sizes, strides, write = part
    small = tensor(node.type.with_shape(sizes))
    piece = generic(w, node, form, operands, empty(w, small), write)
    result = name or w.fresh("p")
    where = f"{list(offsets)} {list(sizes)} {list(strides)}"
    types = f"{small} into {out.type}{location(node.origin)}"
    w.line(f"{result} = tensor.insert_slice {piece.name} into {out.name}{where} : {types}")
    return Value(result, out.type)


def _part(form: LoopForm, out: TensorType):
    """(offsets, sizes, strides, where in the piece) if a form writes a part of the result.

    None if the result is written as a whole, or in an order that is no box of steps.
    """
    extents = dict(form.domain)
    whole = all(
        i == Affine() if size == 1 and not i.vars else extents.get(alone(i) or "") == size
        for i, size in zip(form.write, out.dims, strict=True)
    )
    regular = all(len(i.terms) <= 1 and all(c > 0 for _, c in i.terms) for i in form.write)
    if form.reduce or whole or not regular:
        return None
    sizes = tuple(extents[i.vars[0]] if i.vars else 1 for i in form.write)
    strides = tuple(i.terms[0][1] if i.terms else 1 for i in form.write)
    write = tuple(Affine.var(i.vars[0]) if i.vars else Affine() for i in form.write)
    return tuple(i.const for i in form.write), sizes, strides, write


def _scattered(w: Writer, node: Node, form: LoopForm, operands: Sequence[Value], out: Value,
               name: str) -> Value:  # fmt: skip
    """for domain { out[place] combine= body }, in order."""
    assert form.place is not None
    place, dtype = (
        form.place(lambda k, *at: Load(str(k), at, node.inputs[k].type.dtype)),
        node.type.dtype,
    )
    with _loops(w, form, out, name) as (loops, carried, result):
        body = Body(w, operands, {}, [], loops)
        value, at = body.value(point_value(node, form)), body.point(place)
        if form.combine:
            old = Value(w.fresh(), element(dtype))
            w.line(f"{old.name} = tensor.extract {carried.name}[{at}] : {out.type}")
            value = scalar(w, form.combine, [old, value], [dtype, dtype], dtype)
        new = w.fresh()
        w.line(f"{new} = tensor.insert {value.name} into {carried.name}[{at}] : {out.type}")
        w.line(f"scf.yield {new} : {out.type}")
    return result


@contextmanager
def _loops(w: Writer, form: LoopForm, out: Value, name: str) -> Iterator:
    """The loops of a domain. Gives their variables, the tensor inside, the tensor behind them."""
    zero, one = w.constant("0", "index"), w.constant("1", "index")
    stops = [w.constant(str(extent), "index") for _, extent in form.domain]
    loops: dict[str, Value] = {}
    results: list[str] = []
    carried = out
    for depth, ((var, _), stop) in enumerate(zip(form.domain, stops, strict=True)):
        result = name if name and not depth else w.fresh("l")
        loops[var], inner = Value(w.fresh("i"), "index"), Value(w.fresh("a"), out.type)
        w.line(f"{result} = scf.for {loops[var].name} = {zero.name} to {stop.name} step {one.name} "
               f"iter_args({inner.name} = {carried.name}) -> ({out.type}) {{")  # fmt: skip
        w.depth, carried = w.depth + 1, inner
        results.append(result)
    yield loops, carried, Value(results[0], out.type)
    for depth in reversed(range(len(results))):
        w.depth -= 1
        w.line("}")
        if depth:
            w.line(f"scf.yield {results[depth]} : {out.type}")
