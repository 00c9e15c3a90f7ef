"""Answers that are a pattern: transposes of the Toy dialect sink below an operation.

What needs xDSL is imported where it is used. Next room: the teacher's page, docs/units/u10.md.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternative, equivalent, mutant

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.pattern_rewriter import RewritePattern, op_type_rewrite_pattern

    from course_lib.mlir.toy.dialect import (
        UNRANKED,
        AddOp,
        MulOp,
        TransposeOp,
        shape_of,
        tensor,
    )
    from lessons.u10.dialect import rewritten


def _sink(text, may, inner=lambda op, left, right: left.input.type,
          outer=lambda op: op.result.type, kinds=None):  # fmt: skip
    class Sink(RewritePattern):
        def match_and_rewrite(self, op, rewriter):
            if not isinstance(op, kinds or (AddOp, MulOp)):
                return
            left, right = op.lhs.owner, op.rhs.owner
            if (
                isinstance(left, TransposeOp)
                and isinstance(right, TransposeOp)
                and may(op, left, right)
            ):
                done = type(op)(left.input, right.input, inner(op, left, right))
                rewriter.replace(op, [done, TransposeOp(done.result, outer(op))])

    return rewritten(text, Sink())


def _nobody_else(op, left, right):
    return all(use.operation is op for side in (left, right) for use in side.result.uses)


@mutant("u10.sunk")
def always(text):
    return _sink(text, lambda op, left, right: True)


@mutant("u10.sunk")
def one_use_each(text):
    """toy.mul %t, %t uses %t twice, and nobody else does."""
    return _sink(
        text, lambda op, left, right: len([*left.result.uses]) == len([*right.result.uses]) == 1
    )


@mutant("u10.sunk")
def nobody_else_uses_one_of_them(text):
    return _sink(text, lambda op, left, right: all(use.operation is op for use in left.result.uses))


@mutant("u10.sunk")
def only_products(text):
    return _sink(text, _nobody_else, kinds=(MulOp,))


@mutant("u10.sunk")
def sums_become_products(text):
    class Sink(RewritePattern):
        def match_and_rewrite(self, op, rewriter):
            if isinstance(op, (AddOp, MulOp)):
                left, right = op.lhs.owner, op.rhs.owner
                if (
                    isinstance(left, TransposeOp)
                    and isinstance(right, TransposeOp)
                    and _nobody_else(op, left, right)
                ):
                    done = MulOp(left.input, right.input, left.input.type)
                    rewriter.replace(op, [done, TransposeOp(done.result, op.result.type)])

    return rewritten(text, Sink())


@mutant("u10.sunk")
def the_type_of_the_old_result(text):
    return _sink(text, _nobody_else, inner=lambda op, left, right: op.result.type)


@mutant("u10.sunk")
def forgets_the_shape_of_the_result(text):
    return _sink(text, _nobody_else, outer=lambda op: UNRANKED)


@mutant("u10.sunk")
def forgets_the_shape_inside(text):
    return _sink(text, _nobody_else, inner=lambda op, left, right: UNRANKED)


@mutant("u10.sunk")
def forgets_a_shape_beside_an_unknown_one(text):
    return _sink(text, _nobody_else,
                 outer=lambda op: op.result.type if shape_of(op.lhs) else UNRANKED)  # fmt: skip


@mutant("u10.sunk")
def forgets_the_shape_inside_if_the_result_is_unknown(text):
    return _sink(text, _nobody_else, inner=lambda op, left, right:
                 left.input.type if shape_of(op.result) else UNRANKED)  # fmt: skip


@mutant("u10.sunk")
def nobody_else_in_the_same_way(text):
    """A sum is not in the way of a product."""
    return _sink(text, lambda op, left, right: all(
        use.operation is op or not isinstance(use.operation, type(op))
        for side in (left, right) for use in side.result.uses))  # fmt: skip


@mutant("u10.sunk")
def only_different_ones(text):
    return _sink(text, lambda op, left, right: left is not right and _nobody_else(op, left, right))


@mutant("u10.sunk")
def only_matrices(text):
    return _sink(text, lambda op, left, right: len(shape_of(op.result) or (1, 1)) == 2
                 and _nobody_else(op, left, right))  # fmt: skip


@mutant("u10.sunk")
def transposes_of_one_shape_only(text):
    """Where one of them is unknown, nothing moves."""
    return _sink(text, lambda op, left, right: left.input.type == right.input.type
                 and _nobody_else(op, left, right))  # fmt: skip


@mutant("u10.sunk")
def users_that_are_not_printed(text):
    return _sink(text, lambda op, left, right: all(
        use.operation is op or not use.operation.results
        for side in (left, right) for use in side.result.uses))  # fmt: skip


@mutant("u10.sunk")
def at_most_two_users(text):
    return _sink(text, lambda op, left, right:
                 len([*left.result.uses, *right.result.uses]) <= 2)  # fmt: skip


@mutant("u10.sunk")
def forgets_the_last_transpose(text):
    class Sink(RewritePattern):
        def match_and_rewrite(self, op, rewriter):
            if isinstance(op, (AddOp, MulOp)):
                left, right = op.lhs.owner, op.rhs.owner
                if (
                    isinstance(left, TransposeOp)
                    and isinstance(right, TransposeOp)
                    and _nobody_else(op, left, right)
                ):
                    rewriter.replace(op, type(op)(left.input, right.input, left.input.type))

    return rewritten(text, Sink())


@mutant("u10.sunk")
def gives_the_last_transpose_alone(text):
    """The new operation that it transposes is in no program."""

    class Sink(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: AddOp | MulOp, rewriter):
            left, right = op.lhs.owner, op.rhs.owner
            if (
                isinstance(left, TransposeOp)
                and isinstance(right, TransposeOp)
                and _nobody_else(op, left, right)
            ):
                done = type(op)(left.input, right.input, left.input.type)
                rewriter.replace(op, TransposeOp(done.result, op.result.type))

    return rewritten(text, Sink())


@mutant("u10.sunk")
def exchanges_the_operands(text):
    class Sink(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: AddOp | MulOp, rewriter):
            left, right = op.lhs.owner, op.rhs.owner
            if (
                isinstance(left, TransposeOp)
                and isinstance(right, TransposeOp)
                and _nobody_else(op, left, right)
            ):
                done = type(op)(right.input, left.input, left.input.type)
                rewriter.replace(op, [done, TransposeOp(done.result, op.result.type)])

    return rewritten(text, Sink())


@mutant("u10.sunk")
def replaces_without_end(text):
    class Sink(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: AddOp | MulOp, rewriter):
            rewriter.replace(op, type(op)(op.lhs, op.rhs, op.result.type))

    return rewritten(text, Sink())


@mutant("u10.sunk")
def one_transpose_is_enough(text):
    class Sink(RewritePattern):
        def match_and_rewrite(self, op, rewriter):
            if isinstance(op, (AddOp, MulOp)):
                left, right = op.lhs.owner, op.rhs.owner
                if isinstance(left, TransposeOp):
                    other = right.input if isinstance(right, TransposeOp) else op.rhs
                    done = type(op)(left.input, other, left.input.type)
                    rewriter.replace(op, [done, TransposeOp(done.result, op.result.type)])

    return rewritten(text, Sink())


@mutant("u10.sunk")
def leaves_the_text_alone(text):
    return text


@alternative("u10.sunk")
def by_the_set_of_users(text):
    def may(op, left, right):
        return {use.operation for side in (left, right) for use in side.result.uses} == {op}

    return _sink(text, may)


@alternative("u10.sunk")
def with_its_shape_reversed(text):
    def inner(op, left, right):
        shape = shape_of(op.result)
        return left.input.type if shape is None else tensor(shape[::-1])

    return _sink(text, _nobody_else, inner)


@alternative("u10.sunk")
def with_the_type_of_the_right(text):
    return _sink(text, _nobody_else, lambda op, left, right: right.input.type)


@alternative("u10.sunk")
def counting_the_uses(text):
    def may(op, left, right):
        return len([*left.result.uses]) + len([*right.result.uses]) == (4 if left is right else 2)

    return _sink(text, may)


@alternative("u10.sunk")
def two_patterns_in_one(text):
    class Sink(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: AddOp | MulOp, rewriter):
            self.one(op, rewriter)

        def one(self, op, rewriter):
            match op.lhs.owner, op.rhs.owner:
                case (TransposeOp() as left, TransposeOp() as right) if _nobody_else(
                    op, left, right
                ):
                    rewriter.insert(done := type(op)(left.input, right.input, right.input.type))
                    rewriter.replace(op, TransposeOp(done.result, op.result.type))

    return rewritten(text, Sink())


equivalent(
    "u10.sunk",
    "[*left.result.uses, *right.result.uses]",
    "[*right.result.uses, *left.result.uses]",
    because="nothing depends on the order of the uses",
)
