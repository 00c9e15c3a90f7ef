"""Answers to unit 1: plausible mistakes that every check must catch, other right ones that pass."""

from __future__ import annotations

import ast

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp

# ── ir.windows.positions ──


@mutant("ir.windows.positions")
def forgets_the_first_position(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (low + size + high - dilation * (kernel - 1) - 1) // stride)


@mutant("ir.windows.positions")
def forgets_the_dilation(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (low + size + high - kernel) // stride + 1)


@mutant("ir.windows.positions")
def dilates_the_whole_kernel(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (low + size + high - dilation * kernel) // stride + 1)


@mutant("ir.windows.positions")
def pads_one_side_twice(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, (size + 2 * low - dilation * (kernel - 1) - 1) // stride + 1)


@mutant("ir.windows.positions")
def goes_below_zero(size, kernel, stride=1, dilation=1, low=0, high=0):
    return (low + size + high - dilation * (kernel - 1) - 1) // stride + 1


@mutant("ir.windows.positions")
def rounds_towards_zero(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, int((low + size + high - dilation * (kernel - 1) - 1) / stride) + 1)


@mutant("ir.windows.positions")
def gives_a_float(size, kernel, stride=1, dilation=1, low=0, high=0):
    return float(max(0, (low + size + high - dilation * (kernel - 1) - 1) // stride + 1))


@mutant("ir.windows.positions")
def rounds_up(size, kernel, stride=1, dilation=1, low=0, high=0):
    return max(0, -(-(low + size + high - dilation * (kernel - 1)) // stride) + 1)


@alternative("ir.windows.positions")
def by_halving(size, kernel, stride=1, dilation=1, low=0, high=0):
    """The last position that fits, by bisection."""
    reach, least, most = dilation * (kernel - 1), 0, low + size + high + 1
    while least < most:
        middle = (least + most) // 2
        if middle * stride + reach < low + size + high:
            least = middle + 1
        else:
            most = middle
    return least


@alternative("ir.windows.positions")
def as_the_length_of_a_range(size, kernel, stride=1, dilation=1, low=0, high=0):
    return len(range(0, low + size + high - dilation * (kernel - 1), stride))


@alternative("ir.windows.positions")
def rounded_up(size, kernel, stride=1, dilation=1, low=0, high=0):
    starts = low + size + high - dilation * (kernel - 1)
    return np.int64(0) if starts <= 0 else np.int64(-(-starts // stride))


# ── u01.power ──


@mutant("u01.power")
def by_pow():
    return trace(lambda x: x**63.0, "f32[4]")


@mutant("u01.power")
def the_power_64():
    def to_64(x):
        for _ in range(6):
            x = x * x
        return x

    return trace(to_64, "f32[4]")


@mutant("u01.power")
def the_power_64_divided():
    def to_63(x):
        y = x
        for _ in range(6):
            y = y * y
        return y / x

    return trace(to_63, "f32[4]")


@mutant("u01.power")
def one_after_the_other():
    def to_63(x):
        y = x
        for _ in range(62):
            y = y * x
        return y

    return trace(to_63, "f32[4]")


@mutant("u01.power")
def by_binary_digits():
    """Right, and two multiplications too many for all of the points."""

    def to_63(x):
        square, y = x, x
        for _ in range(5):
            square = square * square
            y = y * square
        return y

    return trace(to_63, "f32[4]")


@mutant("u01.power")
def of_integers():
    """The input has a floating type; this one is an i32."""

    def to_63(x):
        x3 = x * x * x
        x7 = x3 * x3 * x
        x56 = (x14 := x7 * x7) * x14 * (x14 * x14)
        return x56 * x7

    return trace(to_63, "i32[4]")


@alternative("u01.power")
def in_f16():
    def to_63(x):
        x3 = x * x * x
        x7 = x3 * x3 * x
        x28 = (x14 := x7 * x7) * x14
        return x28 * x28 * x7

    return trace(to_63, "f16[]")


@alternative("u01.power")
def listed_by_hand():
    x = inp("x", "f64[n]")
    nodes = [x]
    for a, b in ((0, 0), (1, 0), (2, 2), (3, 0), (4, 4), (5, 4), (6, 6), (7, 6)):
        nodes.append(nodes[a] * nodes[b])
    return Graph("power", (x,), tuple(nodes), (nodes[-1],))


@alternative("u01.power")
def the_third_power_of_21():
    def to_63(x):
        two = x * x
        five = two * two * x
        ten = five * five
        twenty_one = ten * ten * x
        return twenty_one * twenty_one * twenty_one

    return trace(to_63, "f64[2,3]")


# ── u01.record ──


@mutant("u01.record")
def by_trace(source, *types):
    """What the result does not need is missing."""
    return trace(eval(source), *types)


class _Careless:
    """Notes what is computed; reflected operations turn the operands around."""

    def __init__(self, node, tape, merge):
        self.node, self.tape, self.merge = node, tape, merge

    def note(self, op, *operands):
        node = apply(op, *(o.node if isinstance(o, _Careless) else o for o in operands))
        twins = [t for t in self.tape if (t.op, t.inputs) == (node.op, node.inputs)]
        if self.merge and twins:
            return type(self)(twins[0], self.tape, self.merge)
        self.tape += [i for i in node.inputs if i not in self.tape] + [node]
        return type(self)(node, self.tape, self.merge)

    def __add__(self, other):
        return self.note("add", self, other)

    def __mul__(self, other):
        return self.note("mul", self, other)

    def __sub__(self, other):
        return self.note("sub", self, other)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self.note("div", self, other)

    def __neg__(self):
        return self.note("neg", self)

    __radd__, __rmul__, __rtruediv__ = __add__, __mul__, __truediv__


class _Right(_Careless):
    def __rsub__(self, other):
        return self.note("sub", other, self)

    def __radd__(self, other):
        return self.note("add", other, self)

    def __rmul__(self, other):
        return self.note("mul", other, self)

    def __rtruediv__(self, other):
        return self.note("div", other, self)


class _Refuses(_Right):
    def __bool__(self):
        raise TypeError("the value is not known")


def _recorded(kind, source, types, merge=False):
    inputs = [inp(f"x{k}", t) for k, t in enumerate(types)]
    tape = list(inputs)
    result = eval(source)(*(kind(node, tape, merge) for node in inputs))
    results = result if isinstance(result, tuple) else (result,)
    return Graph("main", tuple(inputs), tuple(tape), tuple(r.node for r in results))


@mutant("u01.record")
def turns_operands_around(source, *types):
    return _recorded(_Careless, source, types)


@mutant("u01.record")
def decides_without_knowing(source, *types):
    return _recorded(_Right, source, types)


@mutant("u01.record")
def merges_what_is_equal(source, *types):
    return _recorded(_Refuses, source, types, merge=True)


@mutant("u01.record")
def returns_each_value_once(source, *types):
    graph = _recorded(_Refuses, source, types)
    return Graph("main", graph.inputs, graph.nodes, tuple(dict.fromkeys(graph.outputs)))


@mutant("u01.record")
def simplifies_as_it_records(source, *types):
    """x + -y is x - y, but Python performed a neg and an add."""
    graph = _recorded(_Refuses, source, types)

    def visit(node, inputs):
        if node.op == "add" and inputs[1].op == "neg":
            return apply("sub", inputs[0], inputs[1].inputs[0])
        return node.with_inputs(inputs)

    return graph.rebuild(visit)


@mutant("u01.record")
def all_numbers_are_f32(source, *types):
    """The constant beside an f64 or an i32 is an f32 to it."""
    graph = _recorded(_Refuses, source, types)
    if any(not t.startswith("f32") for t in types):
        raise ValueError("operands must have one element type, got f64, f32")
    return graph


@alternative("u01.record")
def with_methods_made_in_a_loop(source, *types):
    """A class whose methods are made from a table; the tape holds nodes, constants come before."""
    function, tape = eval(source), []

    class Value:
        def __init__(self, node):
            self.node = node

        def __bool__(self):
            raise TypeError("a recorded value has no truth")

    def method(op, turned):
        def perform(*values):
            nodes = [v.node if isinstance(v, Value) else v for v in values]
            tape.append(apply(op, *(nodes[::-1] if turned else nodes)))
            return Value(tape[-1])

        return perform

    for python, op in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div")):
        setattr(Value, f"__{python}__", method(op, False))
        setattr(Value, f"__r{python}__", method(op, True))
    Value.__neg__ = method("neg", False)
    names = function.__code__.co_varnames
    inputs = [inp(name, t) for name, t in zip(names, types, strict=False)]
    result = function(*map(Value, inputs))
    results = result if isinstance(result, tuple) else (result,)
    constants = [i for node in tape for i in node.inputs if i.op == "constant"]
    nodes = (*inputs, *dict.fromkeys(constants), *tape)
    return Graph("main", tuple(inputs), nodes, tuple(r.node for r in results))


@alternative("u01.record")
def with_the_constants_first(source, *types):
    graph = _recorded(_Refuses, source, types)
    return Graph("f", graph.inputs, (*graph.constants, *graph.inputs, *graph.ops), graph.outputs)


@alternative("u01.record")
def with_the_reflected_ones(source, *types):
    return _recorded(_Refuses, source, types)


_OPS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


@mutant("u01.record")
def by_reading_the_source(source, *types):
    """The syntax tree knows expressions; loops, conditions and names are beyond this one."""
    function = ast.parse(source, mode="eval").body
    names = [a.arg for a in function.args.args]
    values = {name: inp(name, t) for name, t in zip(names, types, strict=True)}

    def of(tree):
        if isinstance(tree, ast.BinOp):
            return apply(_OPS[type(tree.op)], of(tree.left), of(tree.right))
        if isinstance(tree, ast.UnaryOp):
            return apply("neg", of(tree.operand))
        return values[tree.id] if isinstance(tree, ast.Name) else tree.value

    return Graph.of(values.values(), [of(function.body)])


# ── u01.wrong_line ──


@mutant("u01.wrong_line")
def the_other_change():
    return "%7"


@mutant("u01.wrong_line")
def where_it_shows():
    return "%6"


@mutant("u01.wrong_line")
def both_of_them():
    return ("%5", "%7")


@mutant("u01.wrong_line")
def the_line_itself():
    return "stablehlo.broadcast_in_dim"


@mutant("u01.wrong_line")
def the_bias():
    return "%cst"


@alternative("u01.wrong_line")
def as_it_stands():
    return "%5"


@alternative("u01.wrong_line")
def without_the_sign():
    return "5"


@alternative("u01.wrong_line")
def as_a_number():
    return 5


# ── u01.limit ──


@mutant("u01.limit")
def in_elements():
    return 204.8


@mutant("u01.limit")
def a_multiply_add_is_one():
    return 25.6


@mutant("u01.limit")
def for_k_of_512():
    return 2 * 128 * 512 * 512 / (4 * (128 * 512 + 512 * 512 + 128 * 512))


@mutant("u01.limit")
def of_the_square():
    return 512 / 6


@mutant("u01.limit")
def without_end():
    return float("inf")


@alternative("u01.limit")
def as_a_fraction():
    return 256 / 5


@alternative("u01.limit")
def to_three_digits():
    return np.float64(51.2)


@alternative("u01.limit")
def by_a_long_k():
    k = 10**6
    return np.float32(2 * 128 * 512 * k / (4 * (128 * k + 512 * k + 128 * 512)))
