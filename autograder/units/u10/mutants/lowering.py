"""Answers about a lowering to linalg. Next room: docs/units/u10.md."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.exercises import slot

lowered = slot("u10.lowered").reference


def _ops(text):
    """The parameters of the function, as (name, type); its operations, as (name of the result,
    kind, operands, type); and what it returns."""
    from lessons.u10.meaning import first_function, parsed  # xDSL need not be installed

    function = first_function(parsed(text))
    names = {value: f"%p{k}" for k, value in enumerate(function.block.args)}
    parameters = [(name, value.type) for value, name in names.items()]
    *ops, last = function.block.ops
    names |= {op.results[0]: f"%v{k}" for k, op in enumerate(ops)}
    given = [[(names[v], v.type) for v in op.operands] for op in (*ops, last)]
    rows = [(names[op.results[0]], op.name, of, op.results[0].type)
            for op, of in zip(ops, given, strict=False)]  # fmt: skip
    return parameters, rows, given[-1][0]


def _generic(name, inputs, maps, body, result):
    """One operation as text; inputs are (name, type)."""
    shown = ", ".join(f"affine_map<(i, j) -> {m}>" for m in [*maps, "(i, j)"])
    block = ", ".join(f"%x{k}: f64" for k in range(len(inputs)))
    return f"""
    %e{name[1:]} = tensor.empty() : {result}
    {name} = linalg.generic {{indexing_maps = [{shown}], iterator_types = ["parallel", "parallel"]}}
        ins({", ".join(n for n, _ in inputs)} : {", ".join(str(t) for _, t in inputs)})
        outs(%e{name[1:]} : {result}) {{
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


def _one_each(text, turned="(j, i)"):
    parameters, rows, returned = _ops(text)
    maps = {"toy.transpose": [turned]}
    lines = [_generic(name, of, maps.get(kind, ["(i, j)"] * 2), BODIES[kind], result)
             for name, kind, of, result in rows]  # fmt: skip
    return _module(parameters, lines, *returned)


def _one_each_without_transposes(text):
    """Users read through a map, and what is returned transposed is written so at once."""
    parameters, rows, (returned, result) = _ops(text)
    transposes = {name: of[0][0] for name, kind, of, _ in rows if kind == "toy.transpose"}

    def root(name, turned=False):
        return root(transposes[name], not turned) if name in transposes else (name, turned)

    last, stored = root(returned)
    types, lines = dict(parameters), []
    if last in types:
        return lowered(text)
    for name, kind, of, type_ in rows:
        if name not in transposes:
            flip = stored and name == last
            types[name] = result if flip else type_
            reads = [(n, turned ^ flip ^ (stored and n == last))
                     for n, turned in (root(operand) for operand, _ in of)]  # fmt: skip
            maps = ["(j, i)" if turned else "(i, j)" for _, turned in reads]
            inputs = [(n, types[n]) for n, _ in reads]
            lines.append(_generic(name, inputs, maps, BODIES[kind], types[name]))
    return _module(parameters, lines, last, result)


YIELD = "linalg.yield {element(returned, False)} : f64"
mutants(
    "u10.lowered",
    one_for_each_operation=_one_each,  # right, and worth half of the points
    one_for_each_sum_and_product=_one_each_without_transposes,  # right, and worth three quarters
    transposes_are_copies=lambda text: _one_each(text, turned="(i, j)"),
    # Whatever the text returns.
    returns_what_is_computed_last=("returned, = last.operands",
                                   "(returned,) = last.prev_op.results"),
    # Of what is read, added and returned.
    in_another_precision=lambda text: lowered(text).replace("f64", "f32"),
    # The types are right, and what is returned is not.
    rounded_to_another_precision=(
        YIELD, "%n = arith.truncf {element(returned, False)} : f64 to f32 "
               "%w = arith.extf %n : f32 to f64 linalg.yield %w : f64"),
    loops_that_are_called_sums=('"parallel", "parallel"', '"reduction", "parallel"'),
    sums_are_products=("'addf' if isinstance(op, AddOp) else 'mulf'", "'mulf'"),
    the_right_operand_is_the_left_one=("element(op.rhs, turned)", "element(op.lhs, turned)"),
    a_transpose_turns_for_good=("not turned", "True"),  # two transposes are one
    a_transpose_does_nothing=("not turned", "turned"),
    # A square matrix may meet its own transpose.
    each_parameter_is_read_one_way=("setdefault((value, turned)", "setdefault((value, False)"),
    twenty_parameters=("enumerate(parameters)}", "list(enumerate(parameters))[:20]}"),
    gives_up_after_twenty_operations=("return names[value, turned]",
                                      "return names[value, turned] if len(lines) < 20 else '%x0'"),
    has_five_names_for_what_it_reads=("%x{len(reads)}", "%x{len(reads) % 5}"),
    computes_a_value_for_each_user=("if (value, turned) not in names:", "if True:"),
)  # fmt: skip


@alternative("u10.lowered")
def by_names(text):
    parameters, rows, (returned, result) = _ops(text)
    types, defined = dict(parameters), {name: (kind, of) for name, kind, of, _ in rows}
    reads, lines, names = {}, [], {}

    def element(name, turned):
        key = name, turned
        if name in types:
            return reads.setdefault(key, f"%x{len(reads)}")
        kind, of = defined[name]
        if kind == "toy.transpose":
            return element(of[0][0], not turned)
        if key not in names:
            values = ", ".join([element(operand, turned) for operand, _ in of])
            names[key] = f"%y{len(lines)}"
            lines.append(f"{names[key]} = arith.{kind[4:]}f {values} : f64\n")
        return names[key]

    lines.append(f"linalg.yield {element(returned, False)} : f64")
    maps = ["(j, i)" if turned else "(i, j)" for _, turned in reads]
    inputs = [(name, types[name]) for name, _ in reads]
    return _module(parameters, [_generic("%r", inputs, maps, "".join(lines), result)], "%r", result)


alternatives(
    "u10.lowered",
    # The loops run over the columns of the result and then over its rows.
    other_names_for_the_loops=lambda text: (
        lowered(text).replace("-> (j, i)", "-> (I, J)").replace("-> (i, j)", "-> (j, i)")
        .replace("(I, J)", "(i, j)")),
    # Whether it is needed or not, where the shape allows it.
    reads_every_parameter_both_ways=("lines: list[str] = []", """lines: list[str] = []
    shape = function.block.last_op.operands[0].type.get_shape()
    for value in function.block.args:
        for turned, fitting in ((False, shape), (True, shape[::-1])):
            if value.type.get_shape() == fitting:
                reads[value, turned] = f'%x{len(reads)}'"""),
)  # fmt: skip

for ours, same, why in (
    ("for op in parsed(text).ops if isinstance(op, FuncOp))", "for op in parsed(text).ops)",
     "the module holds one function and nothing else"),
    ("value in enumerate(parameters)}", "value in enumerate(parameters, 1)}",
     "names of parameters are free"),
    ("element(op.lhs, turned), element(op.rhs, turned)",
     "element(op.rhs, turned), element(op.lhs, turned)", "a + b is b + a"),
):  # fmt: skip
    equivalent("u10.lowered", ours, same, because=why)
