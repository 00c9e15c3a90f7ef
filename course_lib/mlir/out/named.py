"""Ops that MLIR has a name for: `linalg.matmul`, `linalg.conv_2d_nchw_fchw`, `tensor.pad`, ...

    %0 = matmul(%a, %b) : f32[8,16]
    ==>
    %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x16xf32>)
                       outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>

A named op is short for one `linalg.generic` (the pass `linalg-generalize-named-ops` writes it out),
so everything here could also go the way of `pieces.py`, and does with `named=False`. `tensor.pad`
and the reshapes are no loops: they move, or only count differently. Next room: `names.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.ir.graph.node import Node
from course_lib.ir.scalar import identity
from course_lib.ir.types import TensorType, f16, product
from course_lib.mlir.out.generic import empty, filled, typed
from course_lib.mlir.out.writer import Value, Writer, element, location, number, tensor

Named = Callable[[Writer, Node, Sequence[Value], str], Value]


def named(node: Node) -> Named | None:
    """How a node is written by its name; None if MLIR has none for it."""
    writer = _WAYS.get(node.op)
    return writer(node) if writer else None


def structured(w: Writer, op: str, node: Node, ins: Sequence[Value], out: Value, name: str,
               attrs: str = "") -> Value:  # fmt: skip
    """%name = linalg.OP {attrs} ins(...) outs(...) -> type"""
    head = f"{name} = {op} {attrs + ' ' if attrs else ''}"
    w.line(f"{head}{typed('ins', ins)} {typed('outs', [out])} -> {out.type}{location(node.origin)}")
    return Value(name, out.type)


def _plain(node: Node) -> bool:
    """Are there no types that a named op would read otherwise: unsigned, or summed in others?"""
    dtypes = {n.type.dtype for n in (node, *node.inputs)}
    return f16 not in dtypes and all(d.kind in ("float", "int") for d in dtypes)


def _matmul(node: Node) -> Named | None:
    ranks = {i.type.rank for i in node.inputs}
    batches = {i.type.dims[:-2] for i in node.inputs}
    if not _plain(node) or len(batches) > 1 or ranks not in ({2}, {3}):
        return None
    op = "linalg.matmul" if ranks == {2} else "linalg.batch_matmul"
    return lambda w, node, operands, name: structured(
        w, op, node, operands, filled(w, node.type, 0), name
    )


def _window(node: Node) -> str:
    """The attributes of a window along two axes."""
    strides, dilations = (node.attrs[key] or (1, 1) for key in ("strides", "dilations"))
    rows = (f"{key} = dense<{list(value)}> : vector<2xi64>"
            for key, value in (("dilations", dilations), ("strides", strides)))  # fmt: skip
    return f"{{{', '.join(rows)}}}"


def _conv(node: Node) -> Named | None:
    x, w = (i.type for i in node.inputs)
    if not _plain(node) or x.rank != 4:
        return None
    if node.attrs["groups"] == 1:
        return lambda w, node, operands, name: structured(
            w, "linalg.conv_2d_nchw_fchw", node, operands, filled(w, node.type, 0), name,
            _window(node))  # fmt: skip
    return _depthwise if node.attrs["groups"] == w.dims[0] == x.dims[1] else None


def _depthwise(w: Writer, node: Node, operands: Sequence[Value], name: str) -> Value:
    """One filter for each channel: the filters have no axis for the channels that they read."""
    x, filters = operands
    type = node.inputs[1].type
    flat = reshaped(w, filters, type, type.with_shape((type.shape[0], *type.shape[2:])))
    op, start = "linalg.depthwise_conv_2d_nchw_chw", filled(w, node.type, 0)
    return structured(w, op, node, [x, flat], start, name, _window(node))


def _pool(op: str, start: str) -> Callable[[Node], Named | None]:
    def named_pool(node: Node) -> Named | None:
        if not _plain(node) or node.type.rank != 4:
            return None

        def write(w: Writer, node: Node, operands: Sequence[Value], name: str) -> Value:
            rows, columns = node.attrs["kernel"]
            window = empty(w, f"tensor<{rows}x{columns}x{element(node.type.dtype)}>")
            first = filled(w, node.type, identity(start, node.type.dtype))
            return structured(w, op, node, [*operands, window], first, name, _window(node))

        return write

    return named_pool


def _transpose(w: Writer, node: Node, operands: Sequence[Value], name: str) -> Value:
    out = empty(w, tensor(node.type))
    w.line(f"{name} = linalg.transpose {typed('ins', operands)} {typed('outs', [out])} "
           f"permutation = {list(node.attrs['perm'])}{location(node.origin)}")  # fmt: skip
    return Value(name, out.type)


def _slice(node: Node) -> Named | None:
    steps = node.attrs["steps"] or (1,) * node.type.rank
    if any(s < 0 for s in steps):  # a slice of MLIR does not go backwards
        return None

    def write(w: Writer, node: Node, operands: Sequence[Value], name: str) -> Value:
        (x,), type = operands, tensor(node.type)
        where = f"{list(node.attrs['starts'])} {list(node.type.dims)} {list(steps)}"
        w.line(f"{name} = tensor.extract_slice {x.name}{where} : {x.type} to {type}"
               f"{location(node.origin)}")  # fmt: skip
        return Value(name, type)

    return write


def _pad(node: Node) -> Named | None:
    return None if any(node.attrs["interior"] or ()) else _padded


def _padded(w: Writer, node: Node, operands: Sequence[Value], name: str) -> Value:
    (x,), dtype, type = operands, node.type.dtype, tensor(node.type)
    low, high = (list(node.attrs[side]) for side in ("low", "high"))
    value = w.constant(number(node.attrs["value"], dtype), element(dtype))
    w.line(f"{name} = tensor.pad {x.name} low{low} high{high} {{")
    with w.indented():
        at = ", ".join(f"{w.fresh('i')}: index" for _ in low)
        w.line(f"^bb0({at}):")
        w.line(f"tensor.yield {value.name} : {value.type}")
    w.line(f"}} : {x.type} to {type}{location(node.origin)}")
    return Value(name, type)


def _reshape(w: Writer, node: Node, operands: Sequence[Value], name: str) -> Value:
    return reshaped(w, operands[0], node.inputs[0].type, node.type, name, location(node.origin))


def reshaped(w: Writer, x: Value, old: TensorType, new: TensorType, name: str = "",
             where: str = "") -> Value:  # fmt: skip
    """The same elements under another shape: axes merged, axes split, or both, by way of a list."""
    name, target = name or w.fresh("r"), tensor(new)
    merged, split = _groups(old, new), _groups(new, old)
    if new.numel == 0:
        return empty(w, target, name)
    if merged is not None:
        w.line(f"{name} = tensor.collapse_shape {x.name} {merged} : {x.type} into {target}{where}")
    elif split is not None:
        w.line(f"{name} = tensor.expand_shape {x.name} {split} output_shape {list(new.dims)} : "
               f"{x.type} into {target}{where}")  # fmt: skip
    else:
        flat = old.with_shape((old.numel,))
        return reshaped(w, reshaped(w, x, old, flat), flat, new, name, where)
    return Value(name, target)


def _groups(many: TensorType, few: TensorType) -> list[list[int]] | None:
    """Which neighbouring axes of one shape make each axis of the other; None if that is not so."""
    groups: list[list[int]] = []
    axis = 0
    for size in few.dims:
        group = [axis] if axis < many.rank else []
        while group and product(many.dims[group[0] : axis + 1]) != size and axis + 1 < many.rank:
            axis += 1
            group.append(axis)
        axis += 1
        if not group or product([many.dims[a] for a in group]) != size:
            return None
        groups.append(group)
    rest = range(axis, many.rank)  # sizes of 1 behind the last
    if any(many.dims[a] != 1 for a in rest):
        return None
    if groups:
        groups[-1] += rest
    return groups


_WAYS: dict[str, Callable[[Node], Named | None]] = {
    "matmul": _matmul,
    "conv": _conv,
    "max_pool": _pool("linalg.pooling_nchw_max", "max"),
    "sum_pool": _pool("linalg.pooling_nchw_sum", "add"),
    "transpose": lambda node: _transpose if node.type.rank else None,
    "slice": _slice,
    "pad": _pad,
    "reshape": lambda node: _reshape,
}
