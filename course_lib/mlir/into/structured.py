"""Operations on whole tensors: the named ones of linalg, and those of tensor.

    linalg.conv_2d_nchw_fchw {strides = dense<2> ...} ins(%x, %w) outs(%f)    ->    conv(x, w)
    tensor.insert_slice %a into %b[0, 3] [2, 3] [1, 1]                        ->    pad and select

A named op adds to what is in `outs`; mostly that is a tensor full of zeros, and then nothing is
added. Next room: `read.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.types import TensorType
from course_lib.mlir.into.cursor import Cursor, Operand, Unreadable, number, tensor_type
from course_lib.mlir.into.generic import block, combined
from course_lib.mlir.into.maps import expanded, reshaped
from course_lib.mlir.into.scope import Empty, Scope, fill_of

Read = Callable[[Cursor, Scope], "Node | Empty"]


def _operands(c: Cursor) -> tuple[dict, list[Operand], Operand]:
    attributes = c.attributes()
    ins, outs = c.operands("ins"), c.operands("outs")
    if len(outs) != 1 or "indexing_maps" in attributes:
        raise Unreadable("maps of its own, or more than one result")
    return attributes, ins, outs[0]


def fill(c: Cursor, scope: Scope) -> Node:
    _, (value,), out = _operands(c)
    return expanded(scope.node(value.name), tensor_type(out.type).dims)


def product(c: Cursor, scope: Scope) -> Node:
    """matmul, batch_matmul, matvec, vecmat, dot: all of them are our matmul."""
    _, ins, out = _operands(c)
    a, b = (scope.node(operand.name) for operand in ins)
    type = tensor_type(out.type)
    rows = reshaped(a, (1, *a.type.dims)) if a.type.rank == 1 else a
    columns = reshaped(b, (*b.type.dims, 1)) if b.type.rank == 1 else b
    matmul = reshaped(apply("matmul", rows, columns, sums=_sums(a, out)), type.dims)
    return combined("add", scope.find(out.name), matmul)


def _sums(a: Node, out: Operand) -> str | None:
    """The type of the sums, where it is not that of the operands."""
    wide = tensor_type(out.type).dtype
    return None if wide == a.type.dtype else wide.name


def _window(attributes: dict) -> dict:
    """Strides and dilations; one number stands for all axes."""
    window = {}
    for key in ("strides", "dilations"):
        text = attributes[key][0].text if attributes.get(key) else "dense<1>"
        numbers = [int(n) for n in re.findall(r"\d+", text)]
        if len(numbers) not in (1, 2):
            raise Unreadable(f"{key} are one number or two, got {text}")
        window[key] = tuple(numbers * 2)[:2]
    return window


def convolution(c: Cursor, scope: Scope) -> Node:
    attributes, (x, w), out = _operands(c)
    a, b = scope.node(x.name), scope.node(w.name)
    conv = apply("conv", a, b, sums=_sums(a, out), **_window(attributes))
    return combined("add", scope.find(out.name), conv)


def depthwise(c: Cursor, scope: Scope) -> Node:
    """Its filters have no axis for the channels that they read: there is one."""
    attributes, (x, w), out = _operands(c)
    a, filters = scope.node(x.name), scope.node(w.name)
    channels, *window = filters.type.dims
    filters = reshaped(filters, (channels, 1, *window))
    groups = {"groups": channels, "sums": _sums(a, out)}
    conv = apply("conv", a, filters, **groups, **_window(attributes))
    return combined("add", scope.find(out.name), conv)


def pool(op: str, how: str) -> Read:
    def read(c: Cursor, scope: Scope) -> Node:
        attributes, (x, window), out = _operands(c)
        kernel = tensor_type(window.type).dims
        pooled = apply(op, scope.node(x.name), kernel=kernel, **_window(attributes))
        return combined(how, scope.find(out.name), pooled)

    return read


def transpose(c: Cursor, scope: Scope) -> Node:
    _, (x,), _ = _operands(c)
    c.take("permutation")
    c.take("=")
    return apply("transpose", scope.node(x.name), perm=c.integers())


def broadcast(c: Cursor, scope: Scope) -> Node:
    """`dimensions` are the new axes."""
    _, (x,), out = _operands(c)
    c.take("dimensions")
    c.take("=")
    new, sizes = c.integers(), tensor_type(out.type).dims
    kept = [1 if k in new else size for k, size in enumerate(sizes)]
    return expanded(reshaped(scope.node(x.name), kept), sizes)


def empty(c: Cursor, scope: Scope) -> Empty:
    c.group()
    c.take(":")
    return Empty(tensor_type(c.take()))


def reshape(c: Cursor, scope: Scope) -> Node:
    """expand_shape and collapse_shape: the result's type says all."""
    x = scope.node(c.value())
    return reshaped(x, _result(c).dims)


def _result(c: Cursor) -> TensorType:
    """The last type of a statement."""
    return tensor_type(c.tokens[-1].text)


def pad(c: Cursor, scope: Scope) -> Node:
    x = scope.node(c.value())
    c.skip("nofold")
    c.take("low")
    low = c.integers()
    c.take("high")
    high = c.integers()
    _, body = block(c)
    if not body or body[-1].op != "tensor.yield":
        raise Unreadable("the body does not end with tensor.yield")
    inner = Scope(scope)
    for statement in body[:-1]:
        if statement.op != "arith.constant":
            raise Unreadable("padding with something that is not one number")
        k = Cursor(statement.tokens)
        text, _, type = k.take(), k.take(":"), k.take()
        inner[statement.results[0]] = const(number(text, tensor_type(type).dtype))
    value = fill_of(inner.node(Cursor(body[-1].tokens).value()))
    if value is None:
        raise Unreadable("padding with something that is not one number")
    return apply("pad", x, low=low, high=high, value=value.item())


def extract_slice(c: Cursor, scope: Scope) -> Node:
    x = scope.node(c.value())
    starts, sizes, steps = (c.integers() for _ in range(3))
    ends = zip(starts, sizes, steps, strict=True)
    stops = tuple(start + (size - 1) * step + 1 if size else start for start, size, step in ends)
    return reshaped(apply("slice", x, starts=starts, stops=stops, steps=steps), _result(c).dims)


def insert_slice(c: Cursor, scope: Scope) -> Node:
    """The piece in a frame of zeros, and from the other tensor what is not covered."""
    piece = scope.node(c.value())
    c.take("into")
    under = scope.find(c.value())
    starts, sizes, steps = (c.integers() for _ in range(3))
    type, piece = under.type, reshaped(piece, sizes)
    if 0 in sizes:
        return scope.node(c.tokens[2].text)
    ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, steps, strict=True)]
    frame = apply("pad", piece, low=starts, interior=tuple(s - 1 for s in steps),
                  high=tuple(n - e for n, e in zip(type.dims, ends, strict=True)))  # fmt: skip
    covered = np.zeros(type.dims, bool)
    covered[tuple(slice(a, e, s) for a, e, s in zip(starts, ends, steps, strict=True))] = True
    if isinstance(under, Empty) or covered.all():
        return frame
    return apply("select", const(covered), frame, under)


def extract(c: Cursor, scope: Scope) -> Node:
    """One element, or inside a generic one for each point."""
    x = scope.node(c.value())
    names = [t.text for t in c.group() if t.text.startswith("%")]
    if not names:
        return x
    place: Node | None = None
    for name, size in zip(names, x.type.dims, strict=True):
        index = scope.node(name)
        place = index if place is None else place * const(np.int64(size)) + index
    assert place is not None
    return apply("gather", reshaped(x, (x.type.numel,)), place, axis=0)


def index(c: Cursor, scope: Scope) -> Node:
    """The number of an iteration of one loop, at every point."""
    loop = int(c.take())
    if not 0 <= loop < len(scope.loops):
        raise Unreadable(f"there is no loop {loop}")
    shape = [n if d == loop else 1 for d, n in enumerate(scope.loops)]
    return const(np.arange(scope.loops[loop]).reshape(shape))


def same(c: Cursor, scope: Scope) -> Node:
    return reshaped(scope.node(c.value()), _result(c).dims)


OPS: dict[str, Read] = {
    "linalg.fill": fill,
    "linalg.matmul": product,
    "linalg.batch_matmul": product,
    "linalg.matvec": product,
    "linalg.vecmat": product,
    "linalg.dot": product,
    "linalg.conv_2d_nchw_fchw": convolution,
    "linalg.depthwise_conv_2d_nchw_chw": depthwise,
    "linalg.pooling_nchw_max": pool("max_pool", "max"),
    "linalg.pooling_nchw_sum": pool("sum_pool", "add"),
    "linalg.transpose": transpose,
    "linalg.broadcast": broadcast,
    "linalg.index": index,
    "tensor.empty": empty,
    "tensor.expand_shape": reshape,
    "tensor.collapse_shape": reshape,
    "tensor.cast": same,
    "tensor.pad": pad,
    "tensor.extract_slice": extract_slice,
    "tensor.insert_slice": insert_slice,
    "tensor.extract": extract,
}
