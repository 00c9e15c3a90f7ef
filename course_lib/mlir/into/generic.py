"""`linalg.generic` as ops of ours: its body once, on all points of its domain together.

    ins(%x, %b) { %0 = arith.addf %in0, %in1; yield %0 }       ->     add(x, b)
    reduction   { %0 = arith.addf %acc, %in0; yield %0 }       ->     reduce_sum(x)
    reduction   { %0 = mulf %in0, %in1; %1 = addf %acc, %0 }   ->     matmul(x, w)

`maps.py` brings the operands into the order of the loops, then every operation of the body is one
op of ours (`scalars.py`). A sum of products is not made point by point: it is a matrix product.
Next room: `structured.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from course_lib.ir.graph.node import Node, apply
from course_lib.ir.scalar import identity
from course_lib.mlir.into.cursor import Cursor, Operand, Unreadable, tensor_type
from course_lib.mlir.into.maps import (
    LARGEST,
    Map,
    Placed,
    expanded,
    parse_map,
    placed,
    reshaped,
    transposed,
    written,
)
from course_lib.mlir.into.scalars import UNSIGNED, scalar, unsigned
from course_lib.mlir.into.scope import Empty, Scope, fill_of
from course_lib.mlir.into.statements import Statement, statements

COMBINES = {
    "arith.addf": "add", "arith.addi": "add", "arith.mulf": "mul", "arith.muli": "mul",
    "arith.maximumf": "max", "arith.maxsi": "max", "arith.minimumf": "min", "arith.minsi": "min",
    "arith.maxui": "max", "arith.minui": "min", "arith.ori": "max", "arith.andi": "min",
}  # fmt: skip
WIDENING = ("arith.extf", "arith.extsi")
REDUCTIONS = {"add": "reduce_sum", "mul": "reduce_prod", "max": "reduce_max", "min": "reduce_min"}


class Reader(Protocol):
    """Who knows every operation: `read.py`."""

    def map(self, text: str) -> str: ...

    def compute(self, statement: Statement, scope: Scope) -> None: ...


@dataclass(frozen=True)
class Head:
    """What stands before the body: the operands with their maps, those to write last."""

    operands: list[Operand]
    maps: list[Map]
    outs: int
    reduction: list[int]
    extents: dict[int, int]

    @property
    def shape(self) -> list[int]:
        return [self.extents[d] for d in range(len(self.extents))]

    def out(self, k: int) -> tuple[Operand, Map]:
        """What is to be written as result number k, and where."""
        return self.operands[k - self.outs], self.maps[k - self.outs]

    def written(self, node: Node, loops: Sequence[int], k: int) -> Node:
        """The result number k from a node that has an axis for each of the loops."""
        out, at = self.out(k)
        return written(node, loops, at, tensor_type(out.type).dims, self.extents)


@dataclass(frozen=True)
class Loop:
    """A reduction: its head, the names of its arguments, which statement makes which name, and the
    values around it and inside."""

    head: Head
    names: list[str]
    statements: dict[str, Statement]
    scope: Scope
    inner: Scope

    @property
    def accumulators(self) -> list[str]:
        return self.names[-self.head.outs :]


def generic(reader: Reader, c: Cursor, scope: Scope) -> list:
    """The results: nodes; of a reduction with several results, functions that make them when they
    are needed, for often one of them is not. Unreadable, then or now, if no op of ours says it."""
    head = _head(reader, c)
    names, body = block(c)
    if not body or body[-1].op != "linalg.yield":
        raise Unreadable("the body does not end with linalg.yield")
    rest, yields = body[:-1], Cursor(body[-1].tokens).values()
    if len(yields) != head.outs or len(names) != len(head.operands):
        raise Unreadable("the body has not an argument for each operand, and a result for each out")
    inner = Scope(scope, head.shape)
    for name, operand, at in zip(names, head.operands, head.maps, strict=True):
        inner[name] = partial(_everywhere, scope, operand, at, head)
    if not head.reduction:
        for statement in rest:
            reader.compute(statement, inner)
        return [
            head.written(expanded(inner.node(name), head.shape), range(len(head.shape)), k)
            for k, name in enumerate(yields)
        ]
    if not all(statement.results for statement in rest):
        raise Unreadable("a reduction that asserts something")
    makers = {name: statement for statement in rest for name in statement.results}
    loop = Loop(head, names, makers, scope, inner)
    if head.outs == 1:
        return [_reduced(reader, loop, 0, yields[0])]
    line = c.tokens[0].line
    return [partial(_later, reader, loop, k, name, line) for k, name in enumerate(yields)]


def _later(reader: Reader, loop: Loop, k: int, yielded: str, line: int) -> Node:
    """The same as `_reduced`, for a statement further down: so a trouble says where this one is."""
    try:
        return _reduced(reader, loop, k, yielded)
    except Unreadable as error:
        raise Unreadable(f"result {k} of the linalg.generic in line {line}: {error}") from None


def block(c: Cursor) -> tuple[list[str], list[Statement]]:
    """{ ^bb0(%a: f32, ...): ... } as the names of its arguments and its operations."""
    inside = Cursor(c.group()[1:-1])
    names: list[str] = []
    if inside.peek().startswith("^"):
        inside.take()
        names = [t.text for t in inside.group() if t.text.startswith("%")]
        inside.take(":")
    return names, list(statements(inside.tokens[inside.place :]))


def _head(reader: Reader, c: Cursor) -> Head:
    attributes = c.attributes()
    ins, outs = c.operands("ins"), c.operands("outs")
    if c.skip("attrs"):
        c.take("=")
        c.attributes()
    if not {"indexing_maps", "iterator_types"} <= set(attributes):
        raise Unreadable("indexing_maps and iterator_types expected")
    maps = [parse_map(reader.map(t.text)) for t in attributes["indexing_maps"]
            if t.text not in "[],"]  # fmt: skip
    kinds = [t.text.strip('"') for t in attributes["iterator_types"] if t.text not in "[],"]
    if len(maps) != len(ins) + len(outs):
        raise Unreadable(f"{len(maps)} maps for {len(ins) + len(outs)} operands")
    extents = {}
    for operand, at in zip([*ins, *outs], maps, strict=True):
        for loop, size in zip(at.loop_of, tensor_type(operand.type).dims, strict=True):
            if loop is not None and extents.setdefault(loop, size) != size:
                raise Unreadable(f"loop d{loop} is {extents[loop]} long, and {size}")
    if sorted(extents) != [*range(len(kinds))]:
        raise Unreadable("a loop whose length no operand shows")
    reduction = [d for d, kind in enumerate(kinds) if kind == "reduction"]
    return Head([*ins, *outs], maps, len(outs), reduction, extents)


def _everywhere(scope: Scope, operand: Operand, at: Map, head: Head) -> Node:
    return placed(scope.node(operand.name), at, head.extents).over(len(head.shape))


def _reduced(reader: Reader, loop: Loop, k: int, yielded: str) -> Node:
    """The result number k. It may use its own accumulator, once, and no other one."""
    head, accumulator = loop.head, loop.accumulators[k]
    last = loop.statements.get(yielded)
    operands = Cursor(last.tokens).values() if last and last.op in COMBINES else []
    if last is None or len(operands) != 2 or operands.count(accumulator) != 1:
        raise Unreadable("a reduction that is no sum, product, maximum or minimum")
    how = COMBINES[last.op]
    (name,) = (n for n in operands if n != accumulator)
    needed = _needed(name, loop.statements)
    if needed & set(loop.accumulators):
        raise Unreadable("a reduction whose terms depend on what was summed before")
    value = _product(loop, name) if how == "add" else None
    if value is None:
        if np.prod(head.shape, dtype=float) > LARGEST:
            raise Unreadable(f"a reduction over {' x '.join(map(str, head.shape))} points")
        for statement in loop.statements.values():
            if needed & set(statement.results):
                reader.compute(statement, loop.inner)
        whole = expanded(loop.inner.node(name), head.shape)
        whole = unsigned(whole) if last.op in UNSIGNED else whole
        value = apply(REDUCTIONS[how], whole, axes=tuple(head.reduction))
    parallel = [d for d in range(len(head.shape)) if d not in head.reduction]
    result, start = head.written(value, parallel, k), loop.scope.find(head.out(k)[0].name)
    if last.op not in UNSIGNED:
        return combined(how, start, result)
    before = unsigned(loop.scope.node(head.out(k)[0].name))
    return apply("cast", apply(how, before, result), dtype=start.type.dtype.name)


def _needed(name: str, makers: dict[str, Statement]) -> set[str]:
    """The names that a value is computed from, and its own."""
    needed, left = set(), [name]
    while left:
        name = left.pop()
        if name not in needed:
            needed.add(name)
            left += (
                [t.text for t in makers[name].tokens if t.text[0] == "%"] if name in makers else []
            )
    return needed


def combined(how: str, start: Node | Empty, value: Node) -> Node:
    """The value, together with what was there before, unless that changes nothing."""
    if isinstance(start, Empty):
        raise Unreadable("a reduction that begins with nothing")
    fill = fill_of(start)
    if fill is not None and fill == identity(how, value.type.dtype):
        return value
    return apply(how, start, value)


def _product(loop: Loop, name: str) -> Node | None:
    """A sum of products as one matrix product, an axis for each parallel loop; None if it is not
    that."""
    statement = loop.statements.get(name)
    if statement is None or statement.op not in ("arith.mulf", "arith.muli"):
        return None
    sides = [_factor(loop, factor) for factor in Cursor(statement.tokens).values()]
    left, right = sides
    return None if left is None or right is None else _matmul(left, right, loop.head)


def _factor(loop: Loop, name: str) -> Placed | None:
    """An operand, or a cast of one; None if a factor is anything else."""
    cast = loop.statements.get(name)
    source = Cursor(cast.tokens).value() if cast and cast.op in WIDENING else name
    if source not in loop.names:
        return None
    k = loop.names.index(source)
    node = loop.scope.node(loop.head.operands[k].name)
    side = placed(node, loop.head.maps[k], loop.head.extents)
    if cast is None:
        return side
    wide = scalar(cast.op, Cursor(cast.tokens), lambda _: side.node)
    assert wide is not None
    return Placed(wide, side.loops)


def _matmul(a: Placed, b: Placed, head: Head) -> Node | None:
    """Loops of both sides are batches, or summed; loops of one side are rows, or columns."""
    both = set(a.loops) & set(b.loops)
    free = {*head.extents} - {
        *a.loops,
        *b.loops,
    }  # loops of one iteration
    if not set(head.reduction) <= both or any(head.extents[d] != 1 for d in free):
        return None
    loops = sorted({*a.loops, *free})
    a = Placed(reshaped(a.node, [head.extents[d] for d in loops]), tuple(loops))
    batch = sorted(both - set(head.reduction))
    rows, columns = (sorted({*side.loops} - both) for side in (a, b))
    left = _flattened(a, [batch, rows, head.reduction])
    right = _flattened(b, [batch, head.reduction, columns])
    sizes = [head.extents[d] for d in (*batch, *rows, *columns)]
    result = reshaped(apply("matmul", left, right), sizes)
    order = [*batch, *rows, *columns]
    return transposed(result, [order.index(d) for d in sorted(order)])


def _flattened(side: Placed, groups: Sequence[Sequence[int]]) -> Node:
    """The axes in the order of the groups, each group as one axis; no axis for no batches."""
    order = [d for group in groups for d in group]
    node = transposed(side.node, [side.loops.index(d) for d in order])
    sizes = dict(zip(side.loops, side.node.type.dims, strict=True))
    shape = [int(np.prod([sizes[d] for d in group], dtype=int)) for group in groups]
    return reshaped(node, shape if groups[0] else shape[1:])
