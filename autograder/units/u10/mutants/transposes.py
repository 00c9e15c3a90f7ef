"""Answers that are a pattern: transposes of the Toy dialect sink below an operation.

What needs xDSL is imported where it is used. Next room: lowering.py.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternative, alternatives, equivalent, mutants

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.pattern_rewriter import RewritePattern, op_type_rewrite_pattern

    from course_lib.mlir.toy.dialect import AddOp, MulOp, TransposeOp
    from lessons.u10.dialect import rewritten

ALONE, USE = "all((use.operation is op for use in uses))", "use.operation is op for"
USES = "[*left.result.uses, *right.result.uses]"
ARE = "if not isinstance(left, TransposeOp) or not isinstance(right, TransposeOp):"
TWO, INNER = "[done, TransposeOp(done.result, op.result.type)]", "right.input, left.input.type"
KNOWN = "hasattr(op.result.type, 'shape')"
mutants(
    "u10.sunk",
    always=(ALONE, "True"),
    # toy.mul %t, %t uses %t twice, and nobody else does.
    one_use_each=(ALONE, "len([*left.result.uses]) == len([*right.result.uses]) == 1"),
    nobody_else_uses_one_of_them=(USES, "[*left.result.uses]"),
    only_products=("AddOp | MulOp", "MulOp"),
    sums_become_products=("type(op)", "MulOp"),
    the_type_of_the_old_result=(INNER, "right.input, op.result.type"),
    forgets_the_shape_of_the_result=("done.result, op.result.type", "done.result"),
    forgets_the_shape_inside=(INNER, "right.input"),
    forgets_a_shape_beside_an_unknown_one=(
        "op.result.type", "op.result.type if hasattr(op.lhs.type, 'shape') else op.lhs.type"),
    forgets_the_shape_inside_if_the_result_is_unknown=(
        INNER, f"{INNER} if {KNOWN} else op.result.type"),
    forgets_the_shape_inside_if_an_old_operand_is_unknown=(
        INNER, f"{INNER} if hasattr(left.result.type, 'shape') else left.result.type"),
    # A sum is not in the way of a product.
    nobody_else_in_the_same_way=(
        USE, "use.operation is op or not isinstance(use.operation, type(op)) for"),
    only_different_ones=(ALONE, f"left is not right and {ALONE}"),
    only_matrices=(ALONE, f"len(getattr(op.result.type, 'shape', 'mn')) == 2 and {ALONE}"),
    at_most_three_sizes=(ALONE, f"len(getattr(op.result.type, 'shape', 'mn')) < 4 and {ALONE}"),
    small_ones_alone=(
        ALONE, f"max(getattr(op.result.type, 'get_shape', tuple)(), default=0) < 100 and {ALONE}"),
    one_function_alone=(ALONE, f"text.count('toy.func') == 1 and {ALONE}"),
    short_programs_alone=(ALONE, f"text.count('=') < 25 and {ALONE}"),
    # Where one of them is unknown, nothing moves.
    transposes_of_one_shape_only=(ALONE, f"left.input.type == right.input.type and {ALONE}"),
    users_that_are_not_printed=(USE, "use.operation is op or not use.operation.results for"),
    at_most_two_users=(ALONE, "len(uses) <= 2"),
    # What follows reads the sum of the operands as if it were that of their transposes.
    forgets_the_last_transpose=(
        INNER, "right.input", TWO, "[done, CastOp(done.result, op.result.type)]",
        "class Sink", "from course_lib.mlir.toy.dialect import CastOp\n\n    class Sink"),
    # The new operation that it transposes is in no program.
    gives_the_last_transpose_alone=(TWO, "TransposeOp(done.result, op.result.type)"),
    exchanges_the_operands=("(left.input, right.input,", "(right.input, left.input,"),
    replaces_without_end=(f"{ARE}\n                return",
                          "return rewriter.replace(op, type(op)(op.lhs, op.rhs, op.result.type))"),
    one_transpose_is_enough=(
        ARE, "if not isinstance(left, TransposeOp):", USES, "[]", "(left.input, right.input,",
        "(left.input, right.input if isinstance(right, TransposeOp) else op.rhs,"),
    leaves_the_text_alone=lambda text: text,
)  # fmt: skip
alternatives(
    "u10.sunk",
    by_the_set_of_users=(ALONE, "{use.operation for use in uses} == {op}"),
    with_its_shape_reversed=(
        "class Sink", "from course_lib.mlir.toy.dialect import tensor\n\n    class Sink", INNER,
        f"right.input, tensor(op.result.type.get_shape()[::-1]) if {KNOWN} else left.input.type"),
    with_the_type_of_the_right=(INNER, "right.input, right.input.type"),
    counting_the_uses=(ALONE, "len(uses) == (4 if left is right else 2)"),
)  # fmt: skip


@alternative("u10.sunk")
def two_patterns_in_one(text):
    def nobody_else(op, *sides):
        return all(use.operation is op for side in sides for use in side.result.uses)

    class Sink(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: AddOp | MulOp, rewriter):
            self.one(op, rewriter)

        def one(self, op, rewriter):
            match op.lhs.owner, op.rhs.owner:
                case (TransposeOp() as a, TransposeOp() as b) if nobody_else(op, a, b):
                    rewriter.insert(done := type(op)(a.input, b.input, b.input.type))
                    rewriter.replace(op, TransposeOp(done.result, op.result.type))

    return rewritten(text, Sink())


equivalent("u10.sunk", USES, "[*right.result.uses, *left.result.uses]",
           because="nothing depends on the order of the uses")  # fmt: skip
