"""Answers to unit 1 about recordings."""

from __future__ import annotations

import ast

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp


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


equivalent("u01.record", "for i in node.inputs", "for i in reversed(list(node.inputs))",
           because="constants may stand anywhere before their readers")  # fmt: skip
equivalent("u01.record", "raise TypeError", "pass",
           because="Python itself raises TypeError where __bool__ returns None")  # fmt: skip
equivalent("u01.record", "(tuple, list)) else", "(tuple,)) else",
           because="a function returns one value or a tuple of values")  # fmt: skip
