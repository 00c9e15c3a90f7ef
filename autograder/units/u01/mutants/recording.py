"""Answers to unit 1 about recordings."""

from __future__ import annotations

import ast

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from autograder.units.u01.exercises import record
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp

NAME = "u01.record"
RESULTS, NOTED = "tuple((value.node for value in results))", "self.tape.append(node)"
ours = edited(record)  # a copy, whatever is plugged in

mutants(
    NAME,
    by_trace=lambda source, *types: trace(eval(source), *types),  # the unused is missing
    turns_operands_around=(
        "self.note('sub', other, self)", "-self + other", *(
            f"('{op}', {operands}" for op in ("add", "mul", "div")
            for operands in ("other, self", "self, other"))),
    decides_without_knowing=("def __bool__", "def is_true"),
    merges_what_is_equal=(
        NOTED, "twins = [n for n in self.tape if (n.op, n.inputs) == (node.op, node.inputs)]; "
        f"node = twins[0] if twins else {NOTED} or node"),
    minus_zero_is_nothing=("return self.note('sub', self, other)",
                           "return self.note('sub', self, other) if other != 0 else self"),
    times_zero_is_the_number=("return self.note('mul', self, other)",
                              "return self.note('mul', self, other) if other != 0 else 0.0"),
    three_parameters_at_most=("zip(names, types, strict=True)", "zip(names[:3], types)"),
    forty_operations_at_most=(NOTED, f"len(self.tape) > 40 or {NOTED}"),
    returns_each_value_once=(RESULTS, "tuple(dict.fromkeys((value.node for value in results)))"),
    # the constant beside an f64 or an i32 is an f32 to it
    all_numbers_are_f32=("function = eval(source)", "assert 'f32' in {t[:3] for t in types}, "
                         "'operands must have one element type'; function = eval(source)"),
)  # fmt: skip


@mutant(NAME)
def simplifies_as_it_records(source, *types):
    """x + -y is x - y, but Python performed a neg and an add."""
    graph = ours(source, *types)

    def visit(node, inputs):
        if node.op == "add" and inputs[1].op == "neg":
            return apply("sub", inputs[0], inputs[1].inputs[0])
        return node.with_inputs(inputs)

    return graph.rebuild(visit)


_OPS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


@mutant(NAME)
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


@alternative(NAME)
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
    inputs = [inp(n, t) for n, t in zip(function.__code__.co_varnames, types, strict=False)]
    result = function(*map(Value, inputs))
    results = result if isinstance(result, tuple) else (result,)
    constants = dict.fromkeys(i for node in tape for i in node.inputs if i.op == "constant")
    return Graph(
        "main", tuple(inputs), (*inputs, *constants, *tape), tuple(r.node for r in results)
    )


@alternative(NAME)
def with_the_constants_first(source, *types):
    graph = ours(source, *types)
    return Graph("f", graph.inputs, (*graph.constants, *graph.inputs, *graph.ops), graph.outputs)


alternatives(
    NAME,
    with_names_of_its_own=("inp(name, type) for name, type in zip(names, types, strict=True)",
                           "inp(f'x{k}', type) for k, type in enumerate(types)"),
)  # fmt: skip

for _old, _new, _why in [
    ("for i in node.inputs", "for i in reversed(list(node.inputs))",
     "constants may stand anywhere before their readers"),
    ("raise TypeError", "pass", "Python itself raises TypeError where __bool__ returns None"),
    ("(tuple, list)) else", "(tuple,)) else", "a function returns one value or a tuple of values"),
]:  # fmt: skip
    equivalent(NAME, _old, _new, because=_why)
