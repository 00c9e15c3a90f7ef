"""Groups of nodes that become one kernel: what fits into one, and how it is written down.

    %0 = matmul(%x, %w) : f32[8,4]
    %1 = add(%0, %b) : f32[8,4]
    ==>
    %0 = fused(%x, %w, %b) {kind = "epilogue", body = graph @matmul_add(...) {...}} : f32[8,4]

Next room: `should_fuse.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.provenance import origins
from course_lib.ir.registry import normal_axes
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import Sym, product

IN_LAYOUT = ("conv_in_layout", "max_pool_in_layout", "sum_pool_in_layout")
CONTRACTIONS = frozenset(["conv", "matmul", "max_pool", "sum_pool", *IN_LAYOUT])
REDUCTIONS = frozenset(["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"])
# Movement that is only another index, so that it can happen inside any expression.
MOVES = frozenset(["expand", "transpose", "slice", "iota"])
LARGEST = 40  # nodes in a group: a longer one compiles slowly and saves little more
LONGEST_ROW = 8192  # elements of a row that a kernel may keep on its stack


def fits(node: Node, group: Sequence[Node]) -> bool:
    """Can one kernel compute `node`, all of whose users are in `group`, and this group?

    The group has its users before their producers. ValueError if `node` is in it already.
    """
    if node in group:
        raise ValueError(f"fits({node!r}, group): ask before you put the node into the group")
    return len(group) < LARGEST and kind_of([*group, node]) is not None


def kind_of(group: Sequence[Node]) -> str | None:
    """The kind of kernel that computes these nodes, users first; None if there is none.

    - *elementwise*: every member is pointwise. One loop nest over the elements of the last one.
    - *epilogue*: one anchor, a contraction or a reduction, whose operands come from outside. The
      other members finish each element while it is in a register.
    - *rowwise*: one or more reductions along the same last axes, with what is computed before,
      between and after them, such as a whole softmax. A row stays in fast memory meanwhile.
    """
    anchors = [n for n in group if n.op in CONTRACTIONS or n.op in REDUCTIONS]
    if not all(pointwise(n) or n in anchors for n in group):
        return None
    if not anchors:
        return "elementwise"
    if len(anchors) == 1 and _is_epilogue(anchors[0], group):
        return "epilogue"
    return "rowwise" if _is_rowwise(anchors, group) else None


def pointwise(node: Node) -> bool:
    """Does each element of the result come from one element of each operand?"""
    return op_row(node.op).kind == "elementwise" or node.op in MOVES


def _is_epilogue(anchor: Node, group: Sequence[Node]) -> bool:
    """Nothing is computed for the anchor (it would be computed again for each use of it), and what
    is computed from the anchor is elementwise and has its shape."""
    if any(member in anchor.inputs for member in group):
        return False
    return all(_elementwise(n, [anchor.type.shape]) for n in _computed_from([anchor], group))


def _is_rowwise(anchors: Sequence[Node], group: Sequence[Node]) -> bool:
    """All anchors reduce the same last axes of tensors of one shape. What is computed from them is
    elementwise and has that shape or theirs; without keepdims, only theirs."""
    if any(n.op not in REDUCTIONS for n in anchors):
        return False
    first, *others = map(_reduced, anchors)
    shape, axes, result = first
    last = tuple(range(len(shape) - len(axes), len(shape)))
    length = product([shape[axis] for axis in axes])
    if axes != last or isinstance(length, Sym) or not 1 < length <= LONGEST_ROW:
        return False
    wanted = [shape, result] if len(result) == len(shape) else [result]
    after = [n for n in _computed_from(anchors, group) if n not in anchors]
    return all(other == first for other in others) and all(_elementwise(n, wanted) for n in after)


def _reduced(node: Node) -> tuple[tuple, tuple[int, ...], tuple]:
    """The shape that a reduction reads, the axes that it reduces, the shape that it gives."""
    shape = node.inputs[0].type.shape
    return shape, normal_axes(node.attrs["axes"], len(shape), node.op), node.type.shape


def _computed_from(sources: Sequence[Node], group: Sequence[Node]) -> list[Node]:
    """The members of a group (users first) that need one of `sources`, operands first."""
    reached = set(sources)
    dependents = []
    for node in reversed(group):
        if any(i in reached for i in node.inputs):
            reached.add(node)
            dependents.append(node)
    return dependents


def _elementwise(node: Node, shapes: Sequence[tuple]) -> bool:
    return op_row(node.op).kind == "elementwise" and node.type.shape in shapes


def per_row(small: tuple, large: tuple) -> bool:
    """Is `small` the shape of one number for each row of `large`: f32[8,1] beside f32[8,64]?"""
    if len(small) != len(large):
        return False
    kept = [axis for axis, size in enumerate(small) if size != 1]
    rows = max(kept, default=-1) + 1
    return small[:rows] == large[:rows]


def finishes_contraction(node: Node) -> bool:
    """Could `node` be part of the epilogue of a contraction, if it is not fused elsewhere?

    It is, if it is elementwise, and one of its operands of its own shape is a contraction or
    finishes one, and none of the others is a number for each row (which a reduction has to compute
    first, so that the contraction is over by then).
    """
    queue, seen = [node], set()
    while queue:
        member = queue.pop()
        if member.op in CONTRACTIONS:
            return True
        if member in seen or op_row(member.op).kind != "elementwise":
            continue
        seen.add(member)
        shape = member.type.shape
        same = [i for i in member.inputs if i.type.shape == shape]
        others = [i for i in member.inputs if i.type.shape != shape]
        if not any(per_row(i.type.shape, shape) for i in others if i.op != "constant"):
            queue += same if len(seen) < LARGEST else []
    return False


def as_kernels(graph: Graph, group_of: Mapping[Node, Sequence[Node]]) -> Graph:
    """The graph with a `fused` node for each group of two or more nodes.

    `group_of[node]` is the list of the members of the node's group, the same list for all of them:
    nodes are in one group if they have one list object, whatever it holds.
    A `fused` node stands where the last member stood. Its operands are what the members read from
    outside, in order of first use, and are the inputs of its body; single numbers are written into
    the body instead. Raises ValueError if a group is not legal: see `check_group`.
    """
    users, groups = graph.users(), _groups(graph, group_of)
    for group in groups:
        check_group(group, users, graph.outputs)
    new = {node: node for node in graph.nodes if node.op in ("input", "constant")}
    for group in groups:
        new[group[-1]] = _fused(group, new) if len(group) > 1 else _moved(group[0], new)
    kernels = [new[group[-1]] for group in groups]
    return Graph.of(graph.inputs, [new[n] for n in graph.outputs], graph.name, also=kernels)


def _groups(graph: Graph, group_of: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """The members of each group in the order of the graph; the groups in that of their last ones.
    Two lists that hold the same are two groups."""
    backwards: dict[int, list[Node]] = {}
    for node in reversed(graph.ops):
        backwards.setdefault(id(group_of[node]), []).append(node)
    return [members[::-1] for members in reversed(backwards.values())]


def check_group(
    group: Sequence[Node], users: Mapping[Node, Sequence[Node]], outputs: Sequence[Node]
) -> None:
    """Is this a legal group, with its members in the order of the graph? ValueError if not.

    Only the last member may be read outside or be an output, for a kernel writes one result. That
    alone rules out cycles: a path that leaves the group begins at its last member, and nothing that
    needs the last member can be needed by another one.
    """
    inside, last = set(group), group[-1]
    for member in group[:-1]:
        outside = [user for user in users[member] if user not in inside]
        if outside:
            raise ValueError(
                f"{member!r} is inside the kernel of {last!r}; {outside[0]!r} reads it too"
            )
        if member in outputs:
            raise ValueError(f"{member!r} is inside the kernel of {last!r}, but it is an output")
    if len(group) > 1 and kind_of(group[::-1]) is None:
        ops = ", ".join(node.op for node in group)
        raise ValueError(
            f"no kernel can hold these together: {ops} (up to {last!r}); if `fits` said yes, was "
            "its group not users first?"
        )


def _moved(node: Node, new: Mapping[Node, Node]) -> Node:
    return node.with_inputs([new[i] for i in node.inputs])


def _fused(members: Sequence[Node], new: Mapping[Node, Node]) -> Node:
    """One node for these members, which are in topological order."""
    operands: list[Node] = []
    parameters: list[Node] = []
    inside: dict[Node, Node] = {}
    for member in members:
        for operand in member.inputs:
            if operand in inside:
                continue
            if operand.op == "constant" and operand.value.size == 1:
                inside[operand] = operand
            else:
                inside[operand] = inp(f"x{len(operands)}", operand.type)
                parameters.append(inside[operand])
                operands.append(new[operand])
        inside[member] = _moved(member, inside)
    root = members[-1]
    body = Graph.of(parameters, [inside[root]], _title(members))
    kind, origin = kind_of(members[::-1]), origins(*members)
    return apply("fused", *operands, kind=kind, body=body, name=root.name, origin=origin)


def kernel_of(members: Sequence[Node]) -> Node:
    """The `fused` node of some members, in topological order, with the operands that they have."""
    return _fused(members, {operand: operand for node in members for operand in node.inputs})


def _title(members: Sequence[Node]) -> str:
    """conv_add_relu; a long group is named after its ends."""
    ops = [n.op for n in members]
    return "_".join(ops if len(ops) <= 6 else [*ops[:3], f"{len(ops) - 5}_more", *ops[-2:]])
