"""Horizontal fusion: siblings that read the same operand become one larger operation.

    %q = matmul(%x, %wq) : f32[128,256]             %0 = matmul(%x, %wqkv) : f32[128,768]
    %k = matmul(%x, %wk) : f32[128,256]     ==>     %q = slice(%0) {... 0..256 ...} : f32[128,256]
    %v = matmul(%x, %wv) : f32[128,256]             %k = slice(%0) {... 256..512 ...} : ...

The operand is read once instead of three times, and one large product fills the machine better than
three small ones. `fuse`, vertical fusion, lets the slices disappear again.

Legal, because the weights are constants, so no branch can depend on another: if a weight were
computed from the result of a sibling, the merged product would have to run before itself. Here it
pays only if each result is moved next (reshape, transpose, slice), as the heads of an attention
are: a slice can merge with that movement. A branch that ends in an activation would lose its
epilogue and gain a copy. Next room: `groups.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.passes.clean.dce import keep
from course_lib.passes.infra.contract import contract
from course_lib.passes.infra.rewrite import rewrite


@contract(wants=["no duplicates", "no groups"])
@exercise("passes.horizontal", unit=3, points=3, baseline=keep, further=True)
def horizontal(graph: Graph) -> Graph:
    """Merge matrix products of one operand by constant weights into one product and slices.

        y_k = matmul(x, w_k)  [ + b_k ]      for k = 0 .. n-1, n >= 2
        ->  y = matmul(x, concat(w_0 .. w_n-1))  [ + concat(b_0 .. b_n-1) ]
            y_k = slice(y), columns from the sum of the sizes before to that plus its own

    `branches(graph)` finds the candidates: products by a constant matrix, with the constant bias if
    there is one, whose results are only moved next. Those are merged that read the same node and
    all have a bias or all have none. (Adding a bias of zeros instead would turn -0.0 into 0.0.)
    x may have batch axes in front.

    At the end, `rewrite(graph, [slice_after_reshape])` moves each slice behind the reshape that
    splits its columns into heads, where `fuse` makes an index of it; in front
    of the reshape, it would be a copy.

    The merged products carry the origins of all branches, and each slice at least those of its own
    end; what is replaced stays behind for `dce`. The results are the same numbers, provided
    that the target adds products in the same order.

    >>> from course_lib.ir.graph.build import transpose
    >>> from course_lib.ir.graph.node import inp
    >>> from course_lib.passes.clean.dce import dce
    >>> x = inp("x", "f32[4,8]")
    >>> ends = [transpose(x @ const(np.ones((8, n), np.float32)), (1, 0)) for n in (2, 3)]
    >>> dce(horizontal(Graph.of([x], ends)))
    graph @main(%x: f32[4,8]) -> (f32[2,4], f32[3,4]) {
      %0 = constant dense<...> : f32[8,5]
      %1 = matmul(%x, %0) : f32[4,5]
      %2 = slice(%1) {starts = [0, 0], stops = [4, 2]} : f32[4,2]
      %3 = transpose(%2) {perm = [1, 0]} : f32[2,4]
      %4 = slice(%1) {starts = [0, 2], stops = [4, 5]} : f32[4,3]
      %5 = transpose(%4) {perm = [1, 0]} : f32[3,4]
      return %3, %5
    }
    <BLANKLINE>
    """
    families: dict[tuple[Node, bool], list[Branch]] = {}
    for branch in branches(graph):
        family = (branch.matmul.inputs[0], branch.bias is not None)
        families.setdefault(family, []).append(branch)
    family_of = {b.end: f for f in families.values() if len(f) > 1 for b in f}
    operand: dict[Node, Node] = {}  # a matmul of `graph` -> what it reads in the new graph
    merged: dict[Node, Node] = {}  # the first end of a family -> the merged product

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node.op == "matmul":
            operand[node] = inputs[0]
        family = family_of.get(node)
        if family is None:
            return None
        first = family[0]
        if first.end not in merged:
            merged[first.end] = _merged(family, operand[first.matmul])
        start = sum(b.width for b in family[: [b.end for b in family].index(node)])
        return _columns(merged[first.end], start, node)

    return rewrite(graph.rebuild(visit), [slice_after_reshape])


def _merged(family: Sequence[Branch], x: Node) -> Node:
    origin = origins(*(n for b in family for n in (b.matmul, b.end)))
    weights = np.concatenate([b.matmul.inputs[1].value for b in family], axis=1)
    product = apply("matmul", x, replace(const(weights), origin=origin), origin=origin)
    if family[0].bias is None:
        return product
    bias = np.concatenate([b.bias.value.reshape(-1) for b in family if b.bias is not None])
    return apply("add", product, replace(const(bias), origin=origin), origin=origin)


def _columns(y: Node, start: int, end: Node) -> Node:
    """The columns of `y` that were the branch which ended in `end`."""
    rank = y.type.rank
    starts = (0,) * (rank - 1) + (start,)
    stops = (*y.type.shape[:-1], start + end.type.dims[-1])
    return apply("slice", y, starts=starts, stops=stops, name=end.name, origin=end.origin)


@dataclass(frozen=True)
class Branch:
    """`end` is `matmul(x, w)`, or that plus a constant bias with one number for each column."""

    matmul: Node
    bias: Node | None
    end: Node

    @property
    def width(self) -> int:
        return self.end.type.dims[-1]


def branches(graph: Graph) -> list[Branch]:
    """Products by a constant matrix whose result goes to movement only, in the graph's order."""
    users, ends = graph.users(), []
    for node in graph.nodes:
        if node.op != "matmul" or not _is_matrix(node.inputs[1]) or not node.type.is_static:
            continue
        branch = Branch(node, None, node)
        if len(users[node]) == 1 and node not in graph.outputs:
            branch = _with_bias(branch, users[node][0])
        movement = all(user.op in ("reshape", "transpose", "slice") for user in users[branch.end])
        if users[branch.end] and movement and branch.end not in graph.outputs:
            ends.append(branch)
    return ends


def _is_matrix(node: Node) -> bool:
    return node.op == "constant" and node.type.rank == 2


def _with_bias(branch: Branch, user: Node) -> Branch:
    if user.op != "add" or user.type != branch.matmul.type:
        return branch
    bias = user.inputs[1] if user.inputs[0] is branch.matmul else user.inputs[0]
    shape = bias.type.shape
    if bias.op != "constant" or shape[-1:] != branch.matmul.type.shape[-1:]:
        return branch
    return Branch(branch.matmul, bias, user) if bias.type.numel == branch.width else branch


def slice_after_reshape(node: Node) -> Node | None:
    """reshape(slice(x)) -> slice(reshape(x)), where x[.., a:b] is split into whole heads.

    A slice in front of a reshape has to be copied; behind it, `fuse` makes an index of it.
    """
    inner = node.inputs[0] if node.op == "reshape" else node
    if inner.op != "slice" or not node.type.is_static or inner.attrs["steps"] is not None:
        return None
    if not node.type.rank:  # one number of x
        return None
    x, starts, stops = inner.inputs[0], inner.attrs["starts"], inner.attrs["stops"]
    *rows, width = inner.type.dims
    head = node.type.dims[-1]
    split = node.type.dims == (*rows, width // head, head) if head else False
    whole = [*x.type.dims[:-1]] == rows and not any(starts[:-1])
    if not split or not whole or starts[-1] % head or x.type.dims[-1] % head:
        return None
    heads = apply("reshape", x, shape=(*rows, x.type.dims[-1] // head, head), origin=inner.origin)
    first, last = starts[-1] // head, stops[-1] // head
    zeros = (0,) * len(rows)
    return apply("slice", heads, starts=(*zeros, first, 0), stops=(*rows, last, head),
                 origin=origins(inner, node))  # fmt: skip
