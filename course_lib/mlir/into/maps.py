"""What an operand is at every point of a loop nest: its axes brought in the order of the loops.

    x at (d0, d1) -> (d1, d0)       ->     transpose(x), loops 0 and 1
    x at (d0, d1) -> (d1)           ->     x, loop 1
    x at (d0, d1) -> (2*d0 + d1)    ->     gather(x, [[0, 1, 2], [2, 3, 4], ...]), loops 0 and 1

Next room: `generic.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.ir.graph.node import Node, apply, const
from course_lib.mlir.into.cursor import Unreadable

LARGEST = 1 << 24  # indices of one gather
LONGEST = 2000  # characters of a map


@dataclass(frozen=True)
class Map:
    """`(d0, d1) -> (d1, 2*d0 + 1)`: for each result the factor of each loop, and a constant."""

    loops: int
    results: tuple[tuple[Mapping[int, int], int], ...]

    @property
    def loop_of(self) -> tuple[int | None, ...]:
        """For each result the loop that it is, if it is nothing else."""
        return tuple(
            next(iter(factors)) if const == 0 and list(factors.values()) == [1] else None
            for factors, const in self.results
        )


def parse_map(text: str) -> Map:
    """affine_map<(d0, d1) -> (d1, d0 * 2 + 1)>. Unreadable for symbols, floordiv and mod."""
    match = re.fullmatch(r"affine_map<\(([^)]*)\)\s*->\s*\((.*)\)>", text)
    if match is None or len(match[2]) > LONGEST:
        raise Unreadable(f"a map expected, got {text}")
    dims = [d.strip() for d in match[1].split(",") if d.strip()]
    if re.search(r"floordiv|ceildiv|mod", match[2]):
        raise Unreadable(f"a map that divides: {text}")
    try:
        tree = ast.parse(f"[{match[2]}]", mode="eval").body
    except SyntaxError:
        raise Unreadable(f"a map that cannot be read: {text}") from None
    assert isinstance(tree, ast.List)
    return Map(len(dims), tuple(_linear(e, dims) for e in tree.elts))


def _linear(e: ast.expr, dims: Sequence[str]) -> tuple[dict[int, int], int]:
    match e:
        case ast.Constant(value=int(value)):
            return {}, value
        case ast.Name(id=name) if name in dims:
            return {dims.index(name): 1}, 0
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _times(_linear(inner, dims), -1)
        case ast.BinOp(op=ast.Add() | ast.Sub() as op, left=left, right=right):
            a, b = _linear(left, dims), _linear(right, dims)
            return _plus(a, _times(b, -1 if isinstance(op, ast.Sub) else 1))
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            a, b = _linear(left, dims), _linear(right, dims)
            if not a[0]:
                return _times(b, a[1])
            if not b[0]:
                return _times(a, b[1])
    raise Unreadable(f"an index that is not affine: {ast.unparse(e)}")


def _times(a: tuple[dict[int, int], int], factor: int) -> tuple[dict[int, int], int]:
    return {d: c * factor for d, c in a[0].items()}, a[1] * factor


def _plus(a: tuple[dict[int, int], int], b: tuple[dict[int, int], int]):
    return {d: a[0].get(d, 0) + b[0].get(d, 0) for d in {**a[0], **b[0]}}, a[1] + b[1]


@dataclass(frozen=True)
class Placed:
    """A node with one axis for each of these loops, in their order."""

    node: Node
    loops: tuple[int, ...]

    def over(self, count: int) -> Node:
        """The node with an axis for each of all the loops, of size 1 where it does not vary."""
        sizes = dict(zip(self.loops, self.node.type.dims, strict=True))
        return reshaped(self.node, [sizes.get(d, 1) for d in range(count)])


def placed(node: Node, at: Map, extents: Mapping[int, int]) -> Placed:
    """What the operand is at each point. Unreadable if that takes too many indices."""
    loops = [d for d in at.loop_of if d is not None]
    fixed = [k for k, (factors, const) in enumerate(at.results) if not factors and const == 0]
    plain = len(loops) + len(fixed) == len(at.results) and len(set(loops)) == len(loops)
    if not plain or any(node.type.dims[k] != 1 for k in fixed):
        return _gathered(node, at, extents)
    node = reshaped(node, [extents[d] for d in loops])
    order = sorted(range(len(loops)), key=lambda k: loops[k])
    return Placed(transposed(node, order), tuple(sorted(loops)))


def _gathered(node: Node, at: Map, extents: Mapping[int, int]) -> Placed:
    used, flat = places(at, node.type.dims, extents)
    flattened = reshaped(node, [node.type.numel])
    return Placed(apply("gather", flattened, const(flat), axis=0), used)


def places(at: Map, dims: Sequence[int], extents: Mapping[int, int]):
    """The loops that a map uses, and for each of their points the place that it says, counted as in
    a list of all elements. Unreadable if these are too many."""
    used = tuple(sorted({d for factors, _ in at.results for d in factors}))
    shape = tuple(extents[d] for d in used)
    if np.prod(shape, dtype=float) > LARGEST:
        raise Unreadable(f"an operand that is read at {' x '.join(map(str, shape))} places")
    grid = dict(zip(used, np.indices(shape, sparse=True), strict=True))
    flat = np.zeros(shape, np.int64)
    for (factors, offset), size in zip(at.results, dims, strict=True):
        flat = flat * size + sum((grid[d] * c for d, c in factors.items()), np.int64(offset))
    return used, flat


def written(node: Node, loops: Sequence[int], at: Map, dims: Sequence[int],
            extents: Mapping[int, int]) -> Node:  # fmt: skip
    """A node with an axis for each of the loops, in the order in which a result has them.
    Unreadable if not every element of the result is written once."""
    order = [d for d in at.loop_of if d is not None]
    plain = all(d is not None or (not factors and not const)
                for d, (factors, const) in zip(at.loop_of, at.results, strict=True))  # fmt: skip
    if plain and sorted(order) == sorted(loops):
        return reshaped(transposed(node, [list(loops).index(d) for d in order]), dims)
    used, flat = places(at, dims, extents)
    if used != tuple(loops) or not np.array_equal(np.sort(flat, None), np.arange(np.prod(dims))):
        raise Unreadable("a result of which not every element is written once")
    back = np.argsort(flat, None).reshape(dims)
    return apply("gather", reshaped(node, [node.type.numel]), const(back), axis=0)


def reshaped(node: Node, sizes: Sequence[int]) -> Node:
    """The node itself where nothing changes."""
    return node if node.type.dims == tuple(sizes) else apply("reshape", node, shape=tuple(sizes))


def transposed(node: Node, order: Sequence[int]) -> Node:
    """The node itself where nothing changes."""
    return node if list(order) == [*range(node.type.rank)] else apply("transpose", node, perm=order)


def expanded(node: Node, sizes: Sequence[int]) -> Node:
    """The node itself where nothing changes."""
    return node if node.type.dims == tuple(sizes) else apply("expand", node, shape=tuple(sizes))
