"""Checks of unit 2 for constant folding.

fold does one thing to each node, so a small program has one right result. The programs and what
fold makes of them stand below, one for each sentence of the specification. Next room: cse.py.
"""

from __future__ import annotations

import functools

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.programs import graphs
from autograder.check.properties import live_ops, valid_graph
from autograder.units.u02.checks.compare import same_program_as
from autograder.units.u02.checks.shared import in_the_compiler, on_deep, same_bits
from course_lib.ir.graph.build import concat, expand, neg, relu, trace, transpose
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.types import Sym, TensorType, f32
from course_lib.passes.clean.fold import SMALL

MORE_THAN_SMALL = "more than `SMALL` bytes and more bytes than its operands have together"


@checks("passes.fold")
def fold_replaces_what_is_constant(fold):
    """Chains, integers, names and origins, dead constants, nodes without operands."""
    for before, after, why, spec in _folded():
        same_program_as(before, fold(before), after, problem=why, spec=spec)
    return f"{len(_FOLDED)} small programs"


@checks("passes.fold", given=graphs(size=8), examples=15, spec="The value is the interpreter's")
def fold_keeps_every_bit(fold, graph):
    """The result computes what the program computes, and nothing on constants alone is left."""
    after = same_bits(graph, fold(graph))
    for node in live_ops(after):
        if all(i.op == "constant" for i in node.inputs):
            name = value_names(after)[node]
            raise Wrong(
                f"No operation on constants alone is left. %{name} can be computed now.",
                program=graph,
                got=after,
                marked=(name,),
                spec="Replace every node whose operands are all constants",
            )


@checks("passes.fold", spec="if its result is big")
def fold_keeps_big_results_out(fold):
    """What is small, or no bigger than its operands, is folded; what grows the program stays."""
    for before, folds, why in _sizes():
        after = valid_graph(fold(before), before)
        if len(live_ops(after)) != (1 if folds else 2):
            raise Wrong(
                f"{why} {'It is computed now.' if folds else 'It stays.'}",
                program=before,
                got=after,
                spec=MORE_THAN_SMALL,
            )
        same_bits(before, after)
    return f"{len(_sizes())} sizes"


@functools.cache
def _sizes() -> list[tuple[Graph, bool, str]]:
    """(program, does its constant part fold?, why)"""
    thousand = SMALL // 4

    def beside(make: Node) -> Graph:
        return trace(lambda x: x * make, str(make.type))

    def full(count: int) -> Node:
        return const(np.ones(count, np.float32))

    weight = const(np.arange(8192, dtype=np.float32).reshape(64, 128))
    columns = const(np.ones((thousand, 1), np.float32))
    return [
        (beside(expand(const(1.0), (512, 512))), False, "It would put 1 MB into the program."),
        (beside(expand(const(2.0), (thousand,))), True, f"It is {SMALL} bytes, and no more."),
        (beside(expand(const(2.0), (thousand + 1,))), False, f"It is {SMALL + 4} bytes."),
        (beside(transpose(weight, (1, 0))), True, "It is as big as its operand."),
        (beside(concat([full(700), full(700)], 0)), True, "It is as big as its operands together."),
        (beside(columns + const(np.ones((1, 3), np.float32))), False,
         "It is three times as big as its operands together."),
        (beside(columns + const(np.ones(2, np.float32))), False, "It grows the program."),
        (beside(apply("iota", shape=(thousand,), axis=0, dtype="f32")), True,
         "It has no operands, and it is small."),
        (beside(apply("iota", shape=(thousand + 1,), axis=0, dtype="f32")), False,
         "It has no operands, so it is bigger than they are."),
        (beside(expand(const(np.ones(1, np.int8)), (SMALL,))), True, f"{SMALL} elements of i8."),
        (beside(expand(const(np.ones(1)), (thousand,))), False, "Its elements are f64, 8 bytes."),
        (trace(lambda x: concat([expand(const(float(k)), (thousand,)) for k in range(20)] + [x], 0),
               "f32[1]"), True, "Each of the 20 is small; how many there are does not count."),
    ]  # fmt: skip


@checks("passes.fold", spec="if computing it raises: element 7 of an i32[2] has no value")
def fold_survives_what_has_no_value(fold):
    """Element 7 of an i32[2] raises when it is computed, and stays, with all that reads it."""
    beyond = apply("gather", const([1, 2], "i32"), const([7], "i64"), axis=0)
    before = trace(lambda x: x + (beyond + const(1, "i32")), "i32[4]")
    same_program_as(
        before,
        fold(before),
        before,
        problem="Element 7 of an i32[2] has no value. The node stays as it is, and so does what "
        "reads it.",
        spec="folding neither reports the error nor hides it",
    )
    return "what has no value"


@checks("passes.fold", spec="if its size is not known yet (a symbolic shape)")
def fold_leaves_symbolic_sizes(fold):
    """An expand to a size that only the run knows stays."""
    n = Sym.named("n")
    x = inp("x", TensorType(f32, (n, 4)))
    before = Graph.of([x], [x * expand(const(2.0), (n, 4))], "main")
    after = valid_graph(fold(before), before)
    if len(live_ops(after)) != 2:
        raise Wrong("f32[n,4] has no size yet: the expand stays.", program=before, got=after)
    return "symbolic sizes"


@checks("passes.fold", spec="The value is the interpreter's")
def fold_computes_what_the_interpreter_computes(fold):
    """The very bits: f32 sums in f32, 1/0, NaN, integers that wrap, f16, truth values."""
    for before, wanted, why in _values():
        node = before.outputs[0]
        after = valid_graph(fold(before), before)
        made = after.outputs[0]
        if made.op != "constant":
            raise Wrong(f"This has a value, and it is computed now. {why}", program=before,
                        got=after, expected=repr(wanted))  # fmt: skip
        if made.type != node.type or made.value.tobytes() != wanted.tobytes():
            raise Wrong(f"The value is another one. {why}", program=before, got=repr(made.value),
                        expected=repr(wanted))  # fmt: skip
    return "awkward values"


@functools.cache
def _values() -> list[tuple[Graph, np.ndarray, str]]:
    """(program, what its first output is, why)"""
    rng = np.random.default_rng(3)
    many = const(rng.standard_normal((60, 9)).astype(np.float32))
    big = const(np.array([2**31 - 1, -(2**31)], np.int32))
    awkward = [
        (apply("reduce_sum", many, axes=(0,)), "f32 sums are f32 sums: f64 is another result."),
        (transpose(many, (1, 0)) @ many, "f32 products are summed as f32."),
        (const([1.0, 0.0, -1.0]) / const([0.0, 0.0, -0.0]), "1/0 is infinity, 0/0 is NaN."),
        (big + const(1, "i32"), "Integers wrap."),
        (const(np.float16(0.1)) * const(np.float16(3)), "f16 stays f16."),
        (apply("lt", const([1, 2], "u8"), const(2, "u8")), "A comparison gives truth values."),
        (apply("cast", const([2.7, -1.5]), dtype="i64"), "A cast changes the type."),
        (apply("softmax", const(np.zeros((2, 0), np.float32))), "A tensor without elements."),
    ]
    x = inp("x", "f32[4]")
    programs = [(Graph.of([x], [node, neg(x)]), why) for node, why in awkward]
    return [(g, run(Graph.of([], g.outputs[:1]), [])[0], why) for g, why in programs]


@checks("passes.fold", spec="in the same walk")
def fold_takes_deep_programs(fold):
    """40 operations in a row on a constant, and 1,100 on an input."""
    if len(live_ops(on_deep(fold, _chains()))) != 1101:
        raise Wrong("40 operations can be computed now; 1,101 are left.",
                    program="40 relu of a constant, 1,100 of the input, and their sum")  # fmt: skip
    return "1,100 operations in a row"


@functools.cache
def _chains() -> Graph:
    x, folds = inp("x", "f32[2]"), const([1.0, -2.0])
    stays = x
    for k in range(1100):
        stays, folds = relu(stays), relu(folds) if k < 40 else folds
    return Graph.of([x], [stays + folds])


@checks("passes.fold")
def fold_works_in_the_compiler(fold):
    """Compiled with your fold, a program computes what it computed."""
    in_the_compiler("passes.fold", fold)
    return "in the compiler"


@functools.cache
def _folded() -> list[tuple[Graph, Graph, str, str]]:
    return [
        (parse_graph(f"graph @f{text}"), parse_graph(f"graph @f{wanted}"), why, spec)
        for text, wanted, why, spec in _FOLDED
    ]


_LABELS = "keeps the node's name, and the origins of the node and of its operands"
_EVERY = "Replace every node whose operands are all constants by a constant"

# (program, what fold makes of it, why, words of the specification)
_FOLDED = [
    ("""(%x: f32[4]) -> (f32[4]) {
  %a = constant dense<2.0> : f32[]
  %b = constant dense<7.0> : f32[]
  %c = add(%a, %b) : f32[]
  %d = sqrt(%c) : f32[]
  %e = mul(%x, %d) : f32[4]
  return %e
}""", """(%x: f32[4]) -> (f32[4]) {
  %a = constant dense<2.0> : f32[]
  %b = constant dense<7.0> : f32[]
  %c = constant dense<9.0> : f32[]
  %d = constant dense<3.0> : f32[]
  %e = mul(%x, %d) : f32[4]
  return %e
}""", "%c is 9.0, so %d is 3.0. What nobody reads any more stays: dce is another pass.",
     "Operands that nobody\nneeds any more are left for `dce`"),
    ("""(%x: i32[2]) -> (i32[2], i32[]) {
  %a = constant dense<2> : i32[]
  %b = constant dense<5> : i32[]
  %c = mul(%a, %b) : i32[]
  %d = add(%x, %c) : i32[2]
  return %d, %c
}""", """(%x: i32[2]) -> (i32[2], i32[]) {
  %a = constant dense<2> : i32[]
  %b = constant dense<5> : i32[]
  %c = constant dense<10> : i32[]
  %d = add(%x, %c) : i32[2]
  return %d, %c
}""", "2 * 5 is 10, an i32; it is also returned.", "The value is the interpreter's"),
    ("""(%x: f32[2]) -> (f32[2]) {
  %a = constant dense<1.0> : f32[] loc("bias")
  %b = constant dense<2.0> : f32[]
  %sum = add(%a, %b) : f32[] loc("layer1")
  %six = mul(%sum, %b) : f32[] loc("layer2")
  %y = mul(%x, %six) : f32[2] loc("layer3")
  return %y
}""", """(%x: f32[2]) -> (f32[2]) {
  %a = constant dense<1.0> : f32[] loc("bias")
  %b = constant dense<2.0> : f32[]
  %sum = constant dense<3.0> : f32[] loc("layer1", "bias")
  %six = constant dense<6.0> : f32[] loc("layer2", "layer1", "bias")
  %y = mul(%x, %six) : f32[2] loc("layer3")
  return %y
}""", "A new constant has the name of its node, and names every layer that it stands for: %six is "
     "made in layer2 from what layer1 made of the bias.", _LABELS),
    ("""(%x: f32[3]) -> (f32[3], f32[3]) {
  %i = iota() {shape = [3], axis = 0, dtype = "f32"} : f32[3]
  %y = add(%x, %i) : f32[3]
  return %y, %i
}""", """(%x: f32[3]) -> (f32[3], f32[3]) {
  %i = constant dense<[0.0, 1.0, 2.0]> : f32[3]
  %y = add(%x, %i) : f32[3]
  return %y, %i
}""", "iota has no operands, so all of them are constants.",
     "An op without operands, such as a small `iota`, has only constant operands: it is folded"),
    ("""(%x: f32[2], %y: f32[2]) -> (f32[2], f32[2], f32[2]) {
  %one = constant dense<1.0> : f32[]
  %also = constant dense<1.0> : f32[]
  %zero = constant dense<[0.0, 0.0]> : f32[2]
  %a = add(%x, %one) : f32[2]
  %b = add(%a, %also) : f32[2]
  %c = mul(%x, %zero) : f32[2]
  %d = sub(%x, %x) : f32[2]
  return %b, %c, %d
}""", """(%x: f32[2], %y: f32[2]) -> (f32[2], f32[2], f32[2]) {
  %one = constant dense<1.0> : f32[]
  %also = constant dense<1.0> : f32[]
  %zero = constant dense<[0.0, 0.0]> : f32[2]
  %a = add(%x, %one) : f32[2]
  %b = add(%a, %also) : f32[2]
  %c = mul(%x, %zero) : f32[2]
  %d = sub(%x, %x) : f32[2]
  return %b, %c, %d
}""", "Every operation here reads an input, so all stays as it is; equal constants too.", _EVERY),
    ("""() -> (f32[2], f32[]) {
  %one = constant dense<1.0> : f32[]
  %dead = neg(%one) : f32[]
  %two = constant dense<[1.0, 2.0]> : f32[2]
  %s = select(%t, %two, %one) : f32[2]
  return %s, %one
}""".replace("  %s", "  %t = constant dense<[true, false]> : bool[2]\n  %s"),
     """() -> (f32[2], f32[]) {
  %one = constant dense<1.0> : f32[]
  %dead = constant dense<-1.0> : f32[]
  %two = constant dense<[1.0, 2.0]> : f32[2]
  %t = constant dense<[true, false]> : bool[2]
  %s = constant dense<[1.0, 1.0]> : f32[2]
  return %s, %one
}""", "A program without inputs is computed altogether, also what nobody reads.", _EVERY),
]  # fmt: skip
