"""Checks of unit 2 for constant folding.

fold does one thing to each node, so a small program has one right result. The programs and what
fold makes of them stand in fold.txt. Next room: cse.py.
"""

from __future__ import annotations

import functools

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.programs import graphs
from autograder.check.properties import live_ops, valid_graph
from autograder.units.u02.checks.compare import programs_in, same_program_as, two_programs
from autograder.units.u02.checks.shared import compiles, same_bits, takes_large
from course_lib.ir.graph.build import cast, concat, expand, neg, relu, trace, transpose
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.types import Sym, dtype
from course_lib.passes.clean.cse import exactly
from course_lib.passes.clean.fold import SMALL

LABELS = "keeps the node's name, and the origins of the node and of its operands"
LEFT = "Operands that nothing needs any more are left for `dce`"
VALUE = "The value is the interpreter's"
CASCADE = "a node whose operands were just folded is folded too, in the same walk"
EVERY = "Replace every node whose operands are all constants by a constant"
NO_VALUE = "if computing it raises an error, as for element 7 of an i32[2]"
NEITHER = "Folding neither reports the error nor hides it"
IS_STATIC = "For such a symbolic shape, `node.type.is_static` is false"
UNKNOWN = "or if its size is not known yet"
MORE_THAN_SMALL = "more than `SMALL` bytes and more bytes than its operands have together"
READ_TWICE = "An operand that is read twice counts once"
# Why a constant must stay, and the words that say so.
DEAD = ("must stay, though nothing may read it any more: removing what is dead is for dce.",
        LEFT)  # fmt: skip
ANOTHER = ("is a constant already, so this very node must stay, but here is another one with its "
           "value.", "if it is an input or a constant already")  # fmt: skip


@for_each("passes.fold", programs_in("fold.txt"), "{} small programs", spec=LEFT)
def fold_replaces_what_is_constant(fold, text, why, spec):
    """Chains, integers, names and origins, dead constants, nodes without operands."""
    before, after = two_programs(text)
    got = valid_graph(fold(before), before, spec=spec)
    _constants_stay(before, got)
    same_program_as(before, got, after, problem=why, spec=spec, label_spec=LABELS)


def _constants_stay(before: Graph, after: Graph) -> None:
    """The constants of the program are there, as the very same nodes."""
    values = {exactly(n.value) for n in after.constants}
    for node in before.constants:
        if node not in after.nodes:
            why, spec = DEAD if exactly(node.value) not in values else ANOTHER
            raise Wrong(f"%{value_names(before)[node]} {why}", program=before, got=after, spec=spec)


@checks("passes.fold", given=graphs(size=8), examples=15, spec=[VALUE, EVERY])
def fold_keeps_every_bit(fold, graph):
    """The result computes what the program computes, and nothing on constants alone is left."""
    after = same_bits(graph, fold(graph), spec=VALUE)
    for node in live_ops(after):
        if all(i.op == "constant" for i in node.inputs):
            name = value_names(after)[node]
            raise Wrong(f"No operation on constants alone may be left, but %{name} can be computed "
                        "now.", program=graph, got=after, marked=(name,), spec=EVERY)  # fmt: skip


def _sizes() -> list[tuple[Node, bool, str]]:
    """(what is made of constants, does it fold?, why)"""
    thousand = SMALL // 4

    def full(count: int) -> Node:
        return const(np.ones(count, np.float32))

    weight = const(np.arange(8192, dtype=np.float32).reshape(64, 128))
    columns = const(np.ones((thousand, 1), np.float32))
    return [
        (expand(const(1.0), (512, 512)), False, "It would put 1 MB into the program."),
        (expand(neg(const(1.0)), (1024, 1024)), False,
         "The expand is 4 MB. Only the neg that it reads, one number, is computed now."),
        (transpose(weight, (1, 0)), True, "It is as big as its operand."),
        (concat([full(700), full(700)], 0), True, "It is as big as its operands together."),
        (concat([seven := full(700), seven], 0), False,
         "It is 5,600 bytes, and its one operand, read twice, is 2,800."),
        (columns + const(np.ones((1, 3), np.float32)), False,
         "It is three times as big as its operands together."),
        (columns + const(np.ones(2, np.float32)), False, "It makes the program larger."),
        (apply("iota", shape=(thousand,), axis=0, dtype="f32"), True,
         "It has no operands, and it is small."),
        (apply("iota", shape=(thousand + 1,), axis=0, dtype="f32"), False,
         "It has no operands, so it is bigger than they are."),
        (concat([expand(const(float(k)), (thousand,)) for k in range(20)], 0), True,
         "Each of the 20 is small; how many there are does not count."),
        (transpose(transpose(weight, (1, 0)), (1, 0)), True,
         "Each transpose is as big as its operand, and that of the second was just folded."),
        (concat([const(np.full(500, k, np.float32)) for k in range(6)], 0), True,
         "It is as big as its six operands together."),
    ]  # fmt: skip


def _other_types() -> list[tuple[Node, bool, str]]:
    """(what is made of constants, does it fold?, why): bytes count, and not elements."""
    rows = []
    for kind, size in (("f32", 4), ("f16", 2), ("i8", 1), ("f64", 8), ("i64", 8)):
        one, most = const([1], kind), SMALL // size
        as_much = f"It has {most} elements of {size} bytes, {SMALL} in all."
        more = f"It is {SMALL + size} bytes, and its operand {size}."
        rows += [(expand(one, (most,)), True, as_much), (expand(one, (most + 1,)), False, more)]
    for old, new in (("u8", "f32"), ("f16", "f64"), ("f32", "i64"), ("f64", "f32"), ("i64", "u8")):
        array = const(np.ones(5000), old)
        before, after = array.type.nbytes, 5000 * dtype(new).size
        why = f"Its 5,000 elements are {after:,} bytes; those of its operand are {before:,}."
        rows.append((cast(array, new), after <= before, why))
    return rows


SIZES = [(node, folds, why, READ_TWICE if "read twice" in why else MORE_THAN_SMALL)
         for node, folds, why in (*_sizes(), *_other_types())]  # fmt: skip
SYMBOLIC = expand(const(2.0), (Sym.named("n"), 4))
OPEN = (SYMBOLIC, False, "f32[n,4] has no size yet.", IS_STATIC)


@for_each("passes.fold", [*SIZES, OPEN], "constants of {} sizes", spec=UNKNOWN)
def fold_keeps_big_results_out(fold, node, folds, why, spec):
    """What is small, or no bigger than its operands, is folded; a larger program is not made."""
    before = trace(lambda x: x * node, node.type)
    problem = f"{'This must be computed now.' if folds else 'This must stay.'} {why}"
    try:
        after = valid_graph(fold(before), before)
    except Crashed as error:
        if node is not SYMBOLIC:
            raise
        raise Wrong(problem, program=before, got=error.error, spec=spec) from None
    if len(live_ops(after)) != (1 if folds else 2):
        raise Wrong(problem, program=before, got=after, spec=spec)
    if node.type.is_static:
        same_bits(before, after)


def _element(place: Node) -> Node:
    return apply("gather", const([1, 2], "i32"), place, axis=0)


# (program, the operations that are left, why, words of the specification)
WITHOUT_VALUE = [
    (lambda x: (x + _element(const([7], "i64")), neg(const(1, "i32"))), "gather add",
     "and stays; the neg behind it must be computed all the same", EVERY),
    (lambda x: x + (_element(const([7], "i64")) + const(1, "i32")), "gather add add",
     "the node must stay as it is, and so must what reads it", NO_VALUE),
    (lambda x: x + (_element(neg(const([-7], "i64"))) + const(1, "i32")), "gather add add",
     "the node must stay, and the neg before it must be computed", NEITHER),
]  # fmt: skip


@for_each("passes.fold", WITHOUT_VALUE, "an element that does not exist")
def fold_survives_what_has_no_value(fold, make, left, why, spec):
    """Element 7 of an i32[2] raises when it is computed, and stays, with all that reads it."""
    before = trace(make, "i32[4]")
    after = valid_graph(fold(before), before, spec=NEITHER)
    if (ops := " ".join(n.op for n in live_ops(after))) != left:
        raise Wrong(f"Element 7 of an i32[2] has no value: {why}.", program=before, got=after,
                    expected=f"the operations {left}, not {ops}", spec=spec)  # fmt: skip


@checks("passes.fold", spec=VALUE)
def fold_computes_what_the_interpreter_computes(fold):
    """The very bits: f32 sums in f32, 1/0, NaN, integers that wrap, f16, truth values."""
    for node, why in _values():
        x = inp("x", "f32[4]")
        before = Graph.of([x], [node, neg(x)])
        folded = valid_graph(fold(before), before).outputs[0]
        wanted = run(Graph.of([], [node]), [])[0]
        if folded.op != "constant":
            raise Wrong(f"This has a value, and it must be computed now. {why}", program=before,
                        expected=repr(wanted))  # fmt: skip
        if folded.type != node.type or folded.value.tobytes() != wanted.tobytes():
            raise Wrong(f"The value is wrong. {why}", program=before, got=repr(folded.value),
                        expected=repr(wanted))  # fmt: skip
    return "NaN, 1/0, and integers that wrap"


@functools.cache
def _values() -> list[tuple[Node, str]]:
    """(a node on constants, what is special about its value)"""
    many = const(np.random.default_rng(3).standard_normal((60, 9)).astype(np.float32))
    big = const(np.array([2**31 - 1, -(2**31)], np.int32))
    return [
        (apply("reduce_sum", many, axes=(0,)),
         "f32 numbers are summed in f32: a sum in f64 is another result."),
        (transpose(many, (1, 0)) @ many, "Products of f32 numbers are summed in f32."),
        (const([1.0, 0.0, -1.0]) / const([0.0, 0.0, -0.0]), "1/0 is infinity, 0/0 is NaN."),
        (big + const(1, "i32"), "Integers wrap."),
        (const(np.float16(0.1)) * const(np.float16(3)), "f16 stays f16."),
        (apply("reduce_sum", const(np.full(2048, 0.1, np.float16)), axes=(0,)),
         "f16 numbers are summed as the interpreter sums them."),
        (const(np.float64(0.1)) + const(np.float64(0.2)), "f64 stays f64, to its last bit."),
        (const([2**53 + 1, -(2**63)], "i64") - const([2, 2**53 + 1], "i64"),
         "A float does not hold these i64 numbers; they are exact, and they wrap."),
        (neg(const([0.0, -0.0])), "-0.0 is not 0.0."),
        (apply("div", const([7, 255], "u8"), const([2, 16], "u8")), "u8 divides in u8."),
        (apply("lt", const([1, 2], "u8"), const(2, "u8")), "A comparison gives truth values."),
        (apply("cast", const([2.7, -1.5]), dtype="i64"), "A cast changes the type."),
        (apply("softmax", const(np.zeros((2, 0), np.float32))),
         "A tensor without elements has a value, too."),
    ]  # fmt: skip


def _chains() -> Graph:
    x, folds = inp("x", "f32[2]"), const([1.0, -2.0])
    stays = x
    for k in range(1100):
        stays, folds = relu(stays), relu(folds) if k < 40 else folds
    return Graph.of([x], [stays + folds])


takes_large("passes.fold", [
    (_chains, 0, "40 relu of a constant, 1,100 of the input, and their sum", "", 1101, CASCADE),
])  # fmt: skip
compiles("passes.fold", EVERY)
