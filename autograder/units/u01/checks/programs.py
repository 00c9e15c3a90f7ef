"""What the checks of unit 1 show an answer: functions to record, programs with something to find.

A recording is written down as rows, "sub 1.0 x; mul #0 #0; returns #1", where #0 is the result of
row 0; a program as lines, "c = Conv x w; b = Norm c s o m v".
"""

from __future__ import annotations

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node

_NO_MORE = "one operation (add, sub, mul, div, neg) for each that Python performs"
_SIDE = "Operands stand as in the source: `2.0 - x` is a sub"
_STANDS = "Operands stand as in the source"
_REFLECTED = "`2.0 + x` is add(2.0, x)"
_TWICE = "what is computed twice is there twice"
ORDER = "in the order in which Python performs them"
_UNREAD = "what is never read is there"
_KNOWS = "uses + - * / and unary - on its parameters, and whatever else Python has"
OUTPUTS = "Its outputs are what the function returns"
_INPUT = "an input for each parameter, under any name"
ONE = "It returns one value or a tuple of values"

# (source, rows, words of the specification)
RECORDINGS: list[tuple[str, str, str]] = [
    ("lambda x, y: x + y", "add x y; returns #0", _NO_MORE),
    ("lambda x, y: y + x", "add y x; returns #0", _STANDS),
    ("lambda x, y: (y - x) / -y", "sub y x; neg y; div #0 #1; returns #2", ORDER),
    ("lambda x: x - 2.0", "sub x 2.0; returns #0", _SIDE),
    ("lambda x: 2.0 - x", "sub 2.0 x; returns #0", _SIDE),
    ("lambda x: 2.0 + x", "add 2.0 x; returns #0", _REFLECTED),
    ("lambda x: 1.0 / (3.0 * x)", "mul 3.0 x; div 1.0 #0; returns #1", _SIDE),
    ("lambda x: x / 4.0 + 1.0 * x", "div x 4.0; mul 1.0 x; add #0 #1; returns #2", _SIDE),
    ("lambda x: (x * x) + (x * x)", "mul x x; mul x x; add #0 #1; returns #2", _TWICE),
    ("lambda x: (s := x * x) + s", "mul x x; add #0 #0; returns #1", _NO_MORE),
    ("lambda x, y: (x + y, x * y, x - y)[1]", "add x y; mul x y; sub x y; returns #1", _UNREAD),
    ("lambda x, y: (x + y, -x, y)", "add x y; neg x; returns #0, #1, y", OUTPUTS),
    ("lambda x: (s := -x, s, x)", "neg x; returns #0, #0, x", OUTPUTS),
    ("lambda x, y: x + -y", "neg y; add x #0; returns #1", _NO_MORE),
    ("lambda x: (-(-x), x - x, x / x, x * 1.0, 0 + x)",
     "neg x; neg #0; sub x x; div x x; mul x 1.0; add 0.0 x; returns #1, #2, #3, #4, #5", _NO_MORE),
    ("lambda x: (x - 0.0, x / 1, x * 0, 0 * x, 1 * x, x + 0, 0.0 - x, x - 1)",
     "sub x 0.0; div x 1.0; mul x 0.0; mul 0.0 x; mul 1.0 x; add x 0.0; sub 0.0 x; sub x 1.0; "
     "returns #0, #1, #2, #3, #4, #5, #6, #7", _NO_MORE),
    ("lambda x, y: y", "returns y", _INPUT),
    ("lambda x, y, z, u, v: (z - v, u, y)", "sub z v; returns #0, u, y", _INPUT),
    ("lambda x: [x := -x for _ in range(99)][98]",
     f"neg x; {'; '.join(f'neg #{k}' for k in range(98))}; returns #98", _NO_MORE),
    ("lambda x: x * 5.0 if 2 > 1 else -x", "mul x 5.0; returns #0", _NO_MORE),
    ("lambda x, y: [x * 2.0, y][1]", "mul x 2.0; returns y", _UNREAD),
    ("lambda a, b: b - a * b", "mul x y; sub y #0; returns #1", ORDER),
    ("lambda x, y: ((lambda k: k - y)(x / 2.0), 3 - x)",
     "div x 2.0; sub #0 y; sub 3.0 x; returns #1, #2", _KNOWS),
    ("lambda x: (x,)", "returns x", ONE),
    ("lambda x: sum(x * k for k in (1.0, 2.0))",
     "mul x 1.0; add 0.0 #0; mul x 2.0; add #1 #2; returns #3", ORDER),
]  # fmt: skip


def rows_of(graph: Graph) -> str:
    """The operations of a recorded graph as rows, and its outputs; the inputs are x, y."""
    names: dict[Node, str] = dict(zip(graph.inputs, "xyzuvw", strict=False))
    rows = []
    for node in graph.nodes:
        if node.op == "constant":
            names[node] = str(float(node.value)) if node.value.size == 1 else "an array"
        elif node.op != "input":
            rows.append(" ".join([node.op, *(names[i] for i in node.inputs)]))
            names[node] = f"#{len(rows) - 1}"
    return "; ".join([*rows, f"returns {', '.join(names[node] for node in graph.outputs)}"])


def lines_of(program: str) -> list[tuple[str, str, list[str]]]:
    """(result, operation, operands) of each line of a program. Norm is a BatchNormalization."""
    words = [line.replace("Norm ", "BatchNormalization ").split() for line in program.split("; ")]
    return [(result, op, operands) for result, _, op, *operands in words]


_SAME = "Weights and sizes are the same for every image"
LINES = "`lines` is an ONNX program, in order; each line is (result, op, operands)"
_NONE = "Lines without a reason are not in the dict"
_FIXED = "no data from an input reach this line"
_TYPE = "`Shape` reads only the type of its operand and `CastLike` only the type of its second"
_ALL_OTHERS = "All other operations read data"
_TYPE_TOO = "not even its type"
COPY = "the operation is `Identity`"
_ABSORBED = "whose first operand is the result of a `Conv` that no other line reads"
_OTHERS = "Apart from the first operand of each, all operands of the two lines are"
_FIRST = "The first reason that holds counts"

# (lines, reasons, what is wrong otherwise, words of the specification); inputs are x and y
PROGRAMS: list[tuple[str, dict[str, str], str, str]] = [
    ("a = Relu x; b = Add a w", {}, "Both lines compute with the image.", _NONE),
    ("a = Constant; b = Add x a", {"a": "fixed"}, "A constant is always the same.", _FIXED),
    ("a = Transpose w; b = Relu a; c = MatMul x b", {"a": "fixed", "b": "fixed"},
     "a is the same for every image, so b is too; c reads the image.", _SAME),
    ("a = Relu x; b = Mul w a; c = Add b w", {}, "One varying operand is enough.", _FIXED),
    ("a = Shape x; b = Expand w a; c = Add y b", {"a": "fixed", "b": "fixed"},
     "All sizes are known, so the shape of x is the same for every image, and so is b.", _SAME),
    ("a = CastLike w x; b = Add x a", {"a": "fixed"},
     "a casts a weight to the type of x; no element of x affects it.", _TYPE),
    ("a = CastLike x w; b = Add a y", {},
     "a holds the elements of x; CastLike reads the type of its second operand, w.", _TYPE),
    ("a = Identity x; b = Relu a", {"a": "copy"}, "a is x again.", COPY),
    ("a = Identity w; b = Add a x", {"a": "fixed"},
     "a copies a weight: the first reason that holds is that it is fixed.", _FIRST),
    ("c = Conv x w; b = Norm c s o m v; r = Relu b", {"b": "absorbed"},
     "b scales and shifts what c computes: c's weights can do that.", _ABSORBED),
    ("k = Constant; c = Conv x w k; b = Norm c s o m v", {"k": "fixed", "b": "absorbed"},
     "The bias k of the convolution is fixed.", _OTHERS),
    ("c = Conv x w; b = Norm c s o m v; r = Add b c", {},
     "r reads c as well, so c must be computed as it is.", _ABSORBED),
    ("c = Conv x w; k = Shape c; b = Norm c s o m v; r = Reshape b k", {"k": "fixed"},
     "k reads c as well, though only its type.", _TYPE_TOO),
    ("c = Conv x w; a = Relu y; b = Norm c s o m v; r = Add a b", {"b": "absorbed"},
     "b reads c, wherever c stands.", _ABSORBED),
    ("c = Conv x w; a = Identity c; b = Norm a s o m v", {"a": "copy"},
     "b reads a, and a is no convolution.", _ABSORBED),
    ("c = Conv x w; a = Relu c; b = Norm a s o m v", {},
     "b reads a, and a is no convolution: the Relu comes before the scale.", _ABSORBED),
    ("a = Relu x; b = Norm a s o m v", {}, "There is no convolution before b.", _ABSORBED),
    ("c = Conv x w; n = InstanceNormalization c s o", {},
     "n takes mean and variance from this image; no weights can hold them.", _ABSORBED),
    ("b = Norm x s o m v; c = Conv b w", {}, "The convolution comes after b.", _ABSORBED),
    ("c = Conv x y; b = Norm c s o m v", {},
     "The weights of this convolution are an input: they change with every call.", _OTHERS),
    ("c = Conv x w; b = Norm c y o m v", {}, "The scale of this batch norm is an input.", _OTHERS),
    ("c = ConvTranspose x w; b = Norm c s o m v", {}, "A ConvTranspose is no Conv.", _ABSORBED),
    ("c = Gemm x w; b = Norm c s o m v", {}, "A Gemm is no Conv.", _ABSORBED),
    ("c = Conv w w; b = Norm x c o m v", {"c": "fixed"},
     "The first operand of b is the image; the convolution its scale.", _ABSORBED),
    ("k = Relu w; j = Shape x; c = Conv x k j; b = Norm c k o m v",
     {"k": "fixed", "j": "fixed", "b": "absorbed"}, "Fixed lines do as well as weights.", _OTHERS),
    ("c = Conv x w y; b = Norm c s o m v", {}, "The bias of this Conv is an input.", _OTHERS),
    ("c = Conv x w; b = Norm c s o m y", {}, "The variance of this norm is an input.", _OTHERS),
    ("c = Conv x w; k = CastLike w c; b = Norm c s o m v", {"k": "fixed"},
     "k reads c as well, though only its type.", _TYPE_TOO),
    ("c = Conv x w; b = Norm c s o m v; d = Norm c s o m v", {}, "Two norms read c.", _ABSORBED),
    ("c = Conv x w; b = Norm c s o m v; d = Relu b; e = Conv d w; f = Norm e s o m v",
     {"b": "absorbed", "f": "absorbed"}, "What b computes still depends on the image.", _FIXED),
    ("a = Identity x; b = Relu a; c = Add w b", {"a": "copy"},
     "A copy of the image depends on the image.", _FIXED),
    ("a = Relu x; k = Shape a; b = Expand w k", {"k": "fixed", "b": "fixed"},
     "The shape of a is fixed, whatever its numbers are.", _TYPE),
    ("a = Size x; b = Add a x", {}, "Size is none of the two that read only a type.", _ALL_OTHERS),
    ("a = Cast x; b = CastLike a x", {}, "a and b hold the elements of x, in another type.",
     _ALL_OTHERS),
    ("a = Constant; b = Range a w; c = Identity b", {"a": "fixed", "b": "fixed", "c": "fixed"},
     "Nothing here reads the image.", _FIXED),
    ("c = Conv u w; b = Norm c s o m v; r = Add b x", {"c": "fixed", "b": "fixed"},
     "This convolution reads weights only.", _FIRST),
]  # fmt: skip
