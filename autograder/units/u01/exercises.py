"""Unit 1, Graphs as IR: the exercises that are no function of the library.

The other three are: course_lib/ir/graph/order.py: topological_order, ir/graph/verify.py: misplaced,
ir/windows.py: positions. What the notebook shows besides is made in captures.py, forms.py,
pictures.py, tools.py and machine.py; what other compilers wrote stands in dumps.py. Next room:
autograder/units/u01/checks/__init__.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp


@exercise("u01.power", unit=1, points=2, kind="budget", further=True)
def power() -> Graph:
    """A graph that raises each element of its input to the power 63, with few multiplications.

    `trace(function, "f32[4]")` makes a graph of a function of nodes, `Graph.of([x], [y])` one of
    nodes: all that y needs. The input may have any floating type.

    One input, one output, and between them nothing but `mul`, whose operands are the input and
    other products: no constants. All operations count, also those that are never read.

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

    `source` is the text of a lambda, and `types` are the types of its parameters. The function,
    `eval(source)`, uses + - * / and unary - on its parameters, and whatever else Python has. It
    returns one value or a tuple of values.

    The graph has an input for each parameter, under any name, and one operation (add, sub, mul,
    div, neg) for each that Python performs: what is never read is there, and what is computed twice
    is there twice. Its outputs are what the function returns.

    - Operands stand as in the source: `2.0 - x` is a sub, and `2.0 + x` is add(2.0, x).
    - Hand numbers to `apply` as they are. Each node stands once, after its operands.
    - If the function tests whether a value is true, as in `x if x else y`, raise TypeError.

    >>> print(record("lambda x: (-x, 1.0 - x)[1]", "f32[4]"))
    graph @main(%x: f32[4]) -> (f32[4]) {
      %0 = neg(%x) : f32[4]
      %1 = constant dense<1.0> : f32[]
      %2 = sub(%1, %x) : f32[4]
      return %2
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
    """A value of the function that is being recorded, with its node and the tape."""

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
        raise TypeError("a recorded value has no number yet: it cannot decide an `if`")


@exercise("u01.fx", unit=1, points=2, kind="evidence", further=True)
def fx() -> dict[str, tuple[int, str]]:
    """Which passes shorten the graphs that torch.fx records of the six programs?

    A dict with a pair for each of "simple", "twice", "spare", "six", "noise" and "gate": how many
    nodes the graph has as recorded, and the passes that take nodes away from it, such as
    {"mine": (7, "fold dce")}, or "" for none. Inputs, `scale` and the output are nodes, too.

    Each pass runs alone, on the graph as recorded, and the result stays what it was:

    - fold computes, when the program is compiled, whatever needs no input;
    - dce drops what no output needs;
    - cse computes once what the graph computes twice from the same operands.
    """
    return {"simple": (6, ""), "twice": (5, "cse"), "spare": (4, "dce"), "six": (4, ""),
            "noise": (5, ""), "gate": (10, "fold dce cse")}  # fmt: skip


@exercise("u01.why_refuse", unit=1, points=3, kind="explain")
def why_refuse() -> Rubric:
    """`decides` returns x or -x, depending on the sum of x. Why can a recording not contain this
    `if`? Why may Dynamo go on where `torch.export` has to give up: what does each of them hand
    over, and what takes the decision? Name one thing that going on costs. Two to five sentences.
    """
    return Rubric(
        criteria="1 point: a recording runs the function once, on values that have no numbers yet, "
        "so the question has no answer (and with numbers it would hold one of the branches, right "
        "for some inputs only). 1 point: Dynamo works inside a running Python: it ends the graph, "
        "lets Python test the real number, and records the branch that is taken; export must hand "
        "over one whole program that is right for every input, with no Python beside it. 1 point: "
        "a cost, such as: no optimization reaches over the break, the values go back to Python "
        "between the graphs, Python must be there when the model runs, guards are tested at each "
        "call, each branch is compiled when it is first taken.",
        samples=(
            Sample(3, "While it is recorded, x has a type but no numbers, so nobody can say "
                   "whether the sum is positive, and a recording follows one path only. Dynamo "
                   "stops the graph after the comparison, gives the real number back to Python "
                   "and records the branch that Python takes; torch.export must deliver one "
                   "program for all inputs that also runs without Python, so it has to refuse. "
                   "The price is two graphs: sum and negation can never be fused, and each call "
                   "goes through Python in between."),
            Sample(2, "The condition depends on the values of x, and a tracer only sees "
                   "placeholders, so it does not know which branch to write down. Dynamo breaks "
                   "the graph there and lets the interpreter decide, which an exported file "
                   "cannot do because it has no interpreter."),
            Sample(1, "At the time of recording the sum has no value yet, so the `if` cannot be "
                   "evaluated. Dynamo is just the newer tool and supports more of Python than "
                   "torch.export."),
        ),
    )  # fmt: skip


@exercise("u01.wrong_line", unit=1, points=2, kind="evidence", further=True)
def wrong_line() -> str:
    """Which line makes the result wrong?

    Two numbers in the listing are not those that torch-mlir wrote. Every type is still right. One
    of the two changes gives another result; the other one gives the same, apart from rounding
    (for finite numbers, unless the exponentials of a row overflow or all underflow). Answer with
    the value that the wrong line defines, such as "%12".
    """
    return "%5"


@exercise("u01.redundant", unit=1, points=3)
def redundant(
    lines: Sequence[tuple[str, str, Sequence[str]]], inputs: Sequence[str], outputs: Sequence[str]
) -> dict[str, str]:
    """What need not run for every image: a dict from the result of a line to the reason.

    `lines` is an ONNX program, in order; each line is (result, op, operands), all of them names. A
    name that is neither in `inputs` nor the result of a line is a trained weight. Weights and sizes
    are the same for every image. The first reason that holds counts:

    - "fixed": no data from an input reach this line. `Shape` reads only the type of its operand
      and `CastLike` only the type of its second; a type carries no data. All other operations read
      data.
    - "copy": the operation is `Identity`.
    - "absorbed": a `BatchNormalization` whose first operand is the result of a `Conv` that no other
      line reads, not even its type, and that is not in `outputs`. Apart from the first operand of
      each, all operands of the two lines are fixed or weights.

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


@exercise("u01.limit", unit=1, points=1, kind="number", further=True)
def limit() -> float:
    """FLOP per byte of a product of f32[128,k] and f32[k,512], as k grows without end.

    A multiply-add is two FLOP; each of the three matrices crosses the memory bus once. The longer k
    is, the higher the intensity, and yet it never gets above one number. Answer with that number,
    to three digits, give or take one in the last.
    """
    return 2 * 128 * 512 / (4 * (128 + 512))


@exercise("u01.boundaries", unit=1, points=2, kind="evidence", further=True)
def boundaries() -> dict[str, str]:
    """Which form of the product is the first to settle order, layout and shape?

    The answer is a dict with six keys, "ours order", "ours layout", "ours shape" and the same for
    "tinygrad". Each value is the name of a form, as the two steppers call it: the first form of
    that compiler of which this can be said:

    - order: it says which of the 1,024 multiplications comes first, because loops stand one inside
      the other, or operations one after the other.
    - layout: an offset into w's memory is written out in it, such as `16*k + n`, or it says how w
      is packed. An index such as `x1[k, n]`, or a reshape of a buffer, names an element and writes
      no offset.
    - shape: nothing in it has the shape 4 by 16 any more; x is an address, or a block of 64.
    """
    return {"ours order": "loops", "ours layout": "scheduled loops", "ours shape": "LLVM IR",
            "tinygrad order": "linear", "tinygrad layout": "kernel",
            "tinygrad shape": "kernel"}  # fmt: skip


@exercise("u01.llvm", unit=1, points=2, kind="evidence", further=True)
def llvm() -> dict[str, str]:
    """What corresponds to LLVM and clang in an ML compiler, and which of the sentences are false?

    The answer is a dict from each number of the left table, "1" to "12", to the letter of its
    counterpart in the right table. No letter is used twice; two letters are left over.
    One more key, "false", holds the letters of the sentences below the tables that are false, in
    any order.
    """
    return {"1": "F", "2": "J", "3": "B", "4": "L", "5": "H", "6": "N", "7": "D", "8": "A",
            "9": "M", "10": "E", "11": "C", "12": "I", "false": "QRTU"}  # fmt: skip
