"""Matching: does this node look like this pattern?

    pattern  mul(a, add(b, 1.0))        // a, b are the pattern's inputs: they stand for any node
    node     mul(add(%x, 1.0), %y)
    ==>      {a: %y, b: %x, ...}        // mul is commutative: it matches the other way round

A pattern is a graph itself, made by running an ordinary function on input nodes. Next room:
`rule.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from course_lib.exercises import exercise
from course_lib.ir.graph.node import Node

COMMUTATIVE = frozenset(
    ["add", "mul", "eq", "ne", "and", "or", "xor", "bit_and", "bit_or", "bit_xor"]
)


def one_op(pattern: Node, node: Node) -> dict[Node, Node] | None:
    """The compiler before this exercise: patterns of one op, with operands in the order written."""
    if (pattern.op, pattern.attrs) != (node.op, node.attrs):
        return None
    if len(pattern.inputs) != len(node.inputs):
        return None
    bindings = {pattern: node}
    for part, operand in zip(pattern.inputs, node.inputs, strict=True):
        if part.op == "input":
            fits = part.type.dtype == operand.type.dtype
        else:
            fits = part.op == "constant" and number_of(part) == number_of(operand)
        if not fits or bindings.setdefault(part, operand) is not operand:
            return None
    return bindings


@exercise("passes.match", unit=2, points=4, baseline=one_op, further=True)
def match(pattern: Node, node: Node) -> dict[Node, Node] | None:
    """How `node` matches `pattern`, or None if it does not.

    The result maps every node of the pattern (inputs, constants and ops) to the node that it
    matched.

    - An *input* of the pattern is a variable. It matches any node of its element type (whatever
      its shape and whatever its name).
    - A *constant* of the pattern is a number. It matches a constant of any shape, of the same
      element type, all of whose elements are that number: `number_of` says which it is.
    - Any other pattern node matches a node of the same op with equal attributes and as many
      operands, if the operands match in turn. Types of inner nodes are not compared.
    - The operands of a COMMUTATIVE op match in either order. The order as written is tried first.
      All combinations count: (a + b) * a matches (%x + %y) * %y with a = %y, b = %x, although
      the first idea, a = %x, leads nowhere.
    - A pattern node that is used twice must match one and the same node both times.

    >>> from course_lib.ir.graph.build import relu
    >>> from course_lib.ir.graph.node import inp
    >>> a, b = inp("a", "f32[]"), inp("b", "f32[]")
    >>> pattern = (a + b) * a
    >>> x, y = inp("x", "f32[8,4]"), inp("y", "f32[4]")
    >>> found = match(pattern, (x + y) * y)
    >>> found[a].name, found[b].name
    ('y', 'x')
    >>> match(pattern, (x + y) * relu(y)) is None
    True
    """
    return next(_ways([(pattern, node)], {}), None)


def _ways(pairs: list[tuple[Node, Node]], bound: dict[Node, Node]) -> Iterator[dict[Node, Node]]:
    """Every way to extend `bound` so that all pairs match."""
    if not pairs:
        yield bound
        return
    (pattern, node), *rest = pairs
    if pattern in bound:
        if bound[pattern] is node:
            yield from _ways(rest, bound)
        return
    bound = {**bound, pattern: node}
    if pattern.op == "input":
        if pattern.type.dtype == node.type.dtype:
            yield from _ways(rest, bound)
    elif pattern.op == "constant":
        if number_of(node) == number_of(pattern):
            yield from _ways(rest, bound)
    elif (pattern.op, pattern.attrs) == (node.op, node.attrs):
        for operands in _orders(node):
            if len(operands) == len(pattern.inputs):
                yield from _ways([*zip(pattern.inputs, operands, strict=True), *rest], bound)


def _orders(node: Node) -> list[tuple[Node, ...]]:
    turned = [node.inputs[::-1]] if node.op in COMMUTATIVE else []
    return [node.inputs, *turned]


def number_of(node: Node) -> tuple[str, bytes] | None:
    """The one number that a constant holds, as (element type, bytes); None if there is none.

    Bytes, because 0.0 == -0.0 while x + -0.0 is x and x + 0.0 is not.
    """
    if node.op != "constant" or not (array := node.value).size:
        return None
    raw = array.tobytes()
    first = raw[: array.itemsize]
    return (node.type.dtype.name, first) if raw == first * array.size else None
