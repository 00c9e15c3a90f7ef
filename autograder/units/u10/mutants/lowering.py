"""Answers about a lowering to linalg. Next room: the teacher's page, docs/units/u10.md."""

from __future__ import annotations

import re
from functools import cache

from autograder.check.framework import alternative, equivalent, mutant


def _ops(text):
    """The operations of the function: (name of the result, kind, operands, type)."""
    from lessons.u10.meaning import first_function, parsed

    function = first_function(parsed(text))
    names = {value: f"%p{k}" for k, value in enumerate(function.block.args)}
    found = []
    for k, op in enumerate(function.block.ops):
        operands = [(names[v], v.type) for v in op.operands]
        if op.results:
            names[op.results[0]] = f"%v{k}"
        found.append((f"%v{k}", op.name, operands, op.results[0].type if op.results else None))
    return [(f"%p{k}", v.type) for k, v in enumerate(function.block.args)], found


def _generic(name, inputs, maps, body, result, start="%e"):
    """One operation as text; inputs are (name, type)."""
    shown = ", ".join(f"affine_map<(i, j) -> {m}>" for m in [*maps, "(i, j)"])
    block = ", ".join(f"%x{k}: f64" for k in range(len(inputs)))
    return f"""
    {start}{name[1:]} = tensor.empty() : {result}
    {name} = linalg.generic {{indexing_maps = [{shown}], iterator_types = ["parallel", "parallel"]}}
        ins({", ".join(n for n, _ in inputs)} : {", ".join(str(t) for _, t in inputs)})
        outs({start}{name[1:]} : {result}) {{
    ^bb0({block}, %old: f64):
      {body}
    }} -> {result}"""


def _module(parameters, lines, name, result):
    given = ", ".join(f"{n}: {t}" for n, t in parameters)
    return f"""module {{ func.func @main({given}) -> {result} {{ {"".join(lines)}
      return {name} : {result}
    }} }}"""


BODIES = {
    "toy.add": "%y = arith.addf %x0, %x1 : f64\n linalg.yield %y : f64",
    "toy.mul": "%y = arith.mulf %x0, %x1 : f64\n linalg.yield %y : f64",
    "toy.transpose": "linalg.yield %x0 : f64",
}


def _one_each(text, maps=None, bodies=BODIES, returns=-1):
    parameters, found = _ops(text)
    maps = maps or {"toy.transpose": ["(j, i)"]}
    lines = []
    for name, kind, operands, result in found[:-1]:
        read = maps.get(kind, ["(i, j)"] * len(operands))
        lines.append(_generic(name, operands, read, bodies[kind], result))
    (returned,) = found[returns][2]
    return _module(parameters, lines, *returned)


@mutant("u10.lowered")
def one_for_each_operation(text):
    """Right, and worth half of the points."""
    return _one_each(text)


@mutant("u10.lowered")
def one_for_each_sum_and_product(text):
    """Right, and worth three quarters: what is returned transposed is written so at once."""
    parameters, found = _ops(text)
    made = {name: (kind, operands, kind_of) for name, kind, operands, kind_of in found[:-1]}

    def root(name, turned=False):
        if made.get(name, ("",))[0] == "toy.transpose":
            return root(made[name][1][0][0], not turned)
        return name, turned

    ((returned, result),) = found[-1][2]
    last, turned = root(returned)
    types, lines = dict(parameters), []
    stored = turned and last not in types
    for name, (kind, operands, type_) in made.items():
        if kind == "toy.transpose":
            continue
        types[name] = result if name == last else type_
        reads = [(n, turned ^ (n == last and stored)) for n, turned in map(root, dict(operands))]
        reads *= 3 - len(reads)  # a value with itself
        maps = ["(j, i)" if t ^ (name == last and stored) else "(i, j)" for _, t in reads]
        lines.append(
            _generic(name, [(n, types[n]) for n, _ in reads], maps, BODIES[kind], types[name])
        )
    if last in dict(parameters) and turned:
        body = BODIES["toy.transpose"]
        lines.append(_generic("%r", [(last, types[last])], ["(j, i)"], body, result))
        last = "%r"
    return _module(parameters, lines, last, result)


@mutant("u10.lowered")
def transposes_are_copies(text):
    return _one_each(text, maps={"toy.transpose": ["(i, j)"]})


@mutant("u10.lowered")
def returns_what_is_computed_last(text):
    """Whatever the text returns."""
    (*_, (name, type_)) = re.findall(r"(%\w+) = .* (tensor<\w+>)\n", text)
    text = re.sub(r"return %\w+ : \S+", f"return {name} : {type_}", text)
    return _fused(re.sub(r"-> \S+ {", f"-> {type_} {{", text))


@mutant("u10.lowered")
def in_another_precision(text):
    """Of what is read, added and returned."""
    return _fused(text).replace("f64", "f32")


@mutant("u10.lowered")
def rounded_to_another_precision(text):
    """The types are right, and what is returned is not."""
    return re.sub(r"linalg.yield (%\w+) : f64", r"%n = arith.truncf \1 : f64 to f32\n"
                  r"%w = arith.extf %n : f32 to f64\nlinalg.yield %w : f64",
                  _fused(text))  # fmt: skip


@mutant("u10.lowered")
def loops_that_are_called_sums(text):
    return _fused(text).replace('"parallel", "parallel"', '"reduction", "parallel"')


@mutant("u10.lowered")
def sums_are_products(text):
    return _one_each(text, bodies={**BODIES, "toy.add": BODIES["toy.mul"]})


@mutant("u10.lowered")
def the_right_operand_is_the_left_one(text):
    return _one_each(text, bodies={**BODIES, "toy.mul": BODIES["toy.mul"].replace("%x1", "%x0")})


def _fused(text, turn=lambda turned: not turned, once=False, keep=True):
    """All in one; `turn` says which way round an operand of a transpose is read."""
    parameters, found = _ops(text)
    made = {name: (kind, operands) for name, kind, operands, _ in found[:-1]}
    types = dict(parameters)
    reads, lines, names = {}, [], {}

    def element(name, turned):
        key = (name, False if once else turned)
        if name in types:
            return reads.setdefault(key, f"%x{len(reads)}")
        kind, operands = made[name]
        if kind == "toy.transpose":
            return element(operands[0][0], turn(turned))
        if key not in names or not keep:
            values = [element(n, turned) for n, _ in operands]
            names[key] = f"%y{len(lines)}"
            lines.append(f"{names[key]} = arith.{kind[4:]}f {', '.join(values)} : f64\n")
        return names[key]

    ((name, result),) = found[-1][2]
    body = f"linalg.yield {element(name, False)} : f64"
    inputs = [(n, types[n]) for n, _ in reads]
    maps = ["(j, i)" if turned else "(i, j)" for _, turned in reads]
    return _module(
        parameters, [_generic("%r", inputs, maps, "".join(lines) + body, result)], "%r", result
    )


@mutant("u10.lowered")
def a_transpose_turns_for_good(text):
    """Two transposes are one."""
    return _fused(text, turn=lambda turned: True)


@mutant("u10.lowered")
def a_transpose_does_nothing(text):
    return _fused(text, turn=lambda turned: turned)


@mutant("u10.lowered")
def each_parameter_is_read_one_way(text):
    """A square matrix may meet its own transpose."""
    return _fused(text, once=True)


@alternative("u10.lowered")
def by_names(text):
    return _fused(text)


@mutant("u10.lowered")
def computes_a_value_for_each_user(text):
    return _fused(text, keep=False)


@alternative("u10.lowered")
def other_names_for_the_loops(text):
    """The loops run over the columns of the result and then over its rows."""
    found = _fused(text).replace("(i, j) -> (j, i)", "(i, j) -> (I, J)")
    return found.replace("(i, j) -> (i, j)", "(i, j) -> (j, i)").replace("(I, J)", "(i, j)")


@alternative("u10.lowered")
def reads_every_parameter_both_ways(text):
    """Whether it is needed or not."""
    parameters, found = _ops(text)
    inputs = [(n, t) for n, t in parameters for _ in range(2)]
    ((name, result),) = found[-1][2]
    shapes = {n: str(t) for n, t in parameters}
    same = {n: shapes[n] == str(result) for n in shapes}
    square = len({part for part in str(result)[7:-5].split("x")}) == 1
    if not square:  # each way fits one kind of shape
        inputs = parameters
        maps = ["(i, j)" if same[n] else "(j, i)" for n, _ in inputs]
    else:
        maps = ["(i, j)", "(j, i)"] * len(parameters)
    at = {
        (n, m == "(j, i)"): f"%x{k}" for k, ((n, _), m) in enumerate(zip(inputs, maps, strict=True))
    }
    made = {n: (kind, operands) for n, kind, operands, _ in found[:-1]}
    lines = []

    @cache
    def element(n, turned):
        if n in shapes:
            return at[n, turned]
        kind, operands = made[n]
        if kind == "toy.transpose":
            return element(operands[0][0], not turned)
        a, b = (element(o, turned) for o, _ in operands)
        lines.append(f"%y{len(lines)} = arith.{kind[4:]}f {a}, {b} : f64\n")
        return f"%y{len(lines) - 1}"

    body = f"linalg.yield {element(name, False)} : f64"
    return _module(
        parameters, [_generic("%r", inputs, maps, "".join(lines) + body, result)], "%r", result
    )


equivalent(
    "u10.lowered",
    "for op in parsed(text).ops if isinstance(op, FuncOp))",
    "for op in parsed(text).ops)",
    because="the module holds one function and nothing else",
)
equivalent(
    "u10.lowered",
    "value in enumerate(parameters)}",
    "value in enumerate(parameters, 1)}",
    because="names of parameters are free",
)
equivalent(
    "u10.lowered",
    "element(op.lhs, turned), element(op.rhs, turned)",
    "element(op.rhs, turned), element(op.lhs, turned)",
    because="a + b is b + a",
)
