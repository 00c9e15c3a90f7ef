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


@alternative("u01.limit")
def by_a_long_k():
    k = 10**6
    return np.float32(2 * 128 * 512 * k / (4 * (128 * k + 512 * k + 128 * 512)))
