"""Unit 1, Graphs as IR: the exercises that are no function of the library.

The other three are: course_lib/ir/graph/order.py: topological_order, ir/graph/verify.py: misplaced,
ir/windows.py: positions. What the evidence is about stands in dumps.py. Next room:
autograder/units/u01/checks/__init__.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from course_lib.exercises import exercise
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp


@exercise("u01.power", unit=1, points=2, kind="budget")
def power() -> Graph:
    """A graph that raises each element of its input to the power 63, with few multiplications.

    `trace(function, "f32[4]")` makes a graph of a function of nodes, `Graph.of([x], [y])` one of
    nodes: all that y needs. The input may have any floating type.

    One input, one output, and between them nothing but `mul`, whose operands are the input and
    other products: no constants. All operations count, also those that nobody reads.

    16 multiplications are the bound, 8 is the best there is; each one above 8 costs a tenth of the
    points, down to half of them.
    """

    def to_63(x: Node) -> Node:
        three = x * x * x
        seven = three * three * x
        two = seven * seven
        four = two * two
        return four * four * seven

    return trace(to_63, "f32[4]")


@exercise("u01.record", unit=1, points=3)
def record(source: str, *types: str) -> Graph:
    """The operations that a Python function performs, in the order in which Python performs them.

    `source` is the text of a lambda, and `types` are the types of its parameters; `eval(source)` is
    the function. It uses + - * / and the sign - on its parameters, and what Python knows besides:
    numbers, loops, tuples, names. It returns one value or a tuple of values.

    The graph has an input for each parameter, and an operation (add, sub, mul, div, neg) for each
    one that Python performs, no more and no fewer: what nobody reads is there, and what is computed
    twice is there twice. Its outputs are what the function returns. Constants may stand anywhere
    before their readers.

    - A number may stand on either side: `2.0 - x` is a sub, not a neg and an add. Hand numbers to
      `apply` as they are: its constant has the element type of the other operand, also for an int.
    - The recording does not know the values. If the function asks for the truth of one, as in
      `x if x else y`, raise TypeError.

    >>> print(record("lambda x: (x * 3.0, 1.0 - x)[1]", "f32[4]"))
    graph @main(%x: f32[4]) -> (f32[4]) {
      %0 = constant dense<3.0> : f32[]
      %1 = mul(%x, %0) : f32[4]
      %2 = constant dense<1.0> : f32[]
      %3 = sub(%2, %x) : f32[4]
      return %3
    }
    <BLANKLINE>
    """
    function = eval(source)
    names = function.__code__.co_varnames[: len(types)]
    inputs = [inp(name, type) for name, type in zip(names, types, strict=True)]
    tape: list[Node] = [*inputs]
    result = function(*(_Recorded(node, tape) for node in inputs))
    results = result if isinstance(result, (tuple, list)) else (result,)
    return Graph("main", tuple(inputs), tuple(tape), tuple(value.node for value in results))


class _Recorded:
    """A value of the function that is being recorded: it knows its node and the tape."""

    def __init__(self, node: Node, tape: list[Node]) -> None:
        self.node, self.tape = node, tape

    def note(self, op: str, *operands: Any) -> Any:
        node = apply(op, *(o.node if isinstance(o, _Recorded) else o for o in operands))
        self.tape += [i for i in node.inputs if i not in self.tape]
        self.tape.append(node)
        return _Recorded(node, self.tape)

    def __add__(self, other: Any) -> Any:
        return self.note("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self.note("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self.note("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.note("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self.note("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.note("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.note("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.note("div", other, self)

    def __neg__(self) -> Any:
        return self.note("neg", self)

    def __bool__(self) -> bool:
        raise TypeError("a recording does not know the value: it cannot decide an `if`")


@exercise("u01.wrong_line", unit=1, points=2, kind="evidence")
def wrong_line() -> str:
    """Which line makes the result wrong?

    Two numbers in the listing are not those that torch-mlir wrote. Every type is still right. One
    of the two changes gives another result; the other one gives the same, but for rounding (and
    unless an exponential overflows). Answer with the value that the wrong line defines, such as
    "%12".
    """
    return "%5"


@exercise("u01.redundant", unit=1, points=3)
def redundant(
    lines: Sequence[tuple[str, str, Sequence[str]]], inputs: Sequence[str], outputs: Sequence[str]
) -> dict[str, str]:
    """What need not run for every image: a dict from the result of a line to the reason.

    `lines` is a program as an ONNX file has it, in order; each line is (result, op, operands), all
    of them names. A name that is neither in `inputs` nor the result of a line is a trained weight,
    the same for every image. So are all sizes. The reasons, of which the first that holds counts:

    - "fixed": no data get from an input to this line. Constants and weights are no inputs. Two
      operations read only the type of an operand, and through a type come no data: `Shape` (its one
      operand) and `CastLike` (its second operand).
    - "copy": the operation is `Identity`.
    - "absorbed": a `BatchNormalization` that fits into the weights of a convolution. Its first
      operand is the result of a `Conv`; no other line reads that result, not even its type, and it
      is not in `outputs`. Apart from the first operand of each, all operands of the two lines are
      fixed or weights.

    Lines without a reason are not in the dict.

    >>> redundant([("k", "Shape", ["x"]), ("y", "Reshape", ["x", "k"])], ["x"], ["y"])
    {'k': 'fixed'}
    """
    line_of = {result: (op, operands) for result, op, operands in lines}
    readers = Counter(name for _, _, operands in lines for name in set(operands))
    reasons: dict[str, str] = {}
    varies = set(inputs)
    for result, op, operands in lines:
        data = {"Shape": [], "CastLike": operands[:1]}.get(op, operands)
        if varies.isdisjoint(data):
            reasons[result] = "fixed"
            continue
        varies.add(result)
        if op == "Identity":
            reasons[result] = "copy"
        elif op == "BatchNormalization":
            before, weights = line_of.get(operands[0], ("", []))
            alone = readers[operands[0]] == 1 and operands[0] not in outputs
            if before == "Conv" and alone and varies.isdisjoint([*weights[1:], *operands[1:]]):
                reasons[result] = "absorbed"
    return reasons


@exercise("u01.limit", unit=1, points=1, kind="number")
def limit() -> float:
    """FLOP per byte of a product of f32[128,k] and f32[k,512], for k without end.

    A multiply-add is two FLOP; each of the three matrices crosses the memory bus once. The longer k
    is, the higher the intensity, and yet it never gets above one number: which one, to three
    digits?
    """
    return 2 * 128 * 512 / (4 * (128 + 512))
