"""Answers that define an operation of the Toy dialect.

What needs xDSL is imported where it is used. Next room: transposes.py.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternative, mutant

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
    from xdsl.traits import Pure
    from xdsl.utils.exceptions import VerifyException

    from course_lib.mlir.toy.dialect import (
        TENSOR,
        Elementwise,
        InfersShape,
        shape_of,
    )
    from lessons.u10.dialect import with_shapes


def _with(rule, text, operand=None, outcome=None):
    """MatmulOp whose `inferred` is this rule, with operands and a result of these kinds."""
    kind, made = operand or TENSOR, outcome or TENSOR

    @irdl_op_definition
    class MatmulOp(IRDLOperation, InfersShape):
        name = "toy.matmul"
        lhs = operand_def(kind)
        rhs = operand_def(kind)
        result = result_def(made)
        assembly_format = Elementwise.assembly_format
        traits = traits_def(Pure())

        def inferred(self, shapes):
            return rule(*shapes)

    return with_shapes(text, MatmulOp)


def _refuse(left, right):
    raise VerifyException(f"no product of {left} and {right}")


@mutant("u10.matmul")
def shape_of_the_left(text):
    return _with(lambda a, b: a if len(a) == len(b) == 2 and a[1] == b[0] else _refuse(a, b), text)


@mutant("u10.matmul")
def outer_sizes_exchanged(text):
    return _with(lambda a, b: (b[1], a[0]) if len(a) == len(b) == 2 and a[1] == b[0]
                 else _refuse(a, b), text)  # fmt: skip


@mutant("u10.matmul")
def never_refuses(text):
    return _with(lambda a, b: (a[0], b[-1]), text)


@mutant("u10.matmul")
def only_looks_at_the_inner_sizes(text):
    return _with(lambda a, b: (a[0], b[-1]) if a[-1:] == b[:1] else _refuse(a, b), text)


@mutant("u10.matmul")
def compares_the_wrong_sizes(text):
    return _with(lambda a, b: (a[0], b[1]) if len(a) == len(b) == 2 and a[0] == b[1]
                 else _refuse(a, b), text)  # fmt: skip


@mutant("u10.matmul")
def only_square(text):
    return _with(lambda a, b: a if a == b and len(a) == 2 and a[0] == a[1] else _refuse(a, b), text)


@mutant("u10.matmul")
def another_kind_of_error(text):
    def rule(a, b):
        if len(a) != 2 or len(b) != 2 or a[1] != b[0]:
            raise ValueError("these do not fit")
        return a[0], b[1]

    return _with(rule, text)


@mutant("u10.matmul")
def without_its_decorator(text):
    class MatmulOp(Elementwise):
        name = "toy.matmul"

        def inferred(self, shapes):
            return _right(*shapes)

    return with_shapes(text, MatmulOp)


@mutant("u10.matmul")
def as_mul(text):
    @irdl_op_definition
    class MatmulOp(Elementwise):
        name = "toy.matmul"

    return with_shapes(text, MatmulOp)


def _right(left, right):
    if len(left) != 2 or len(right) != 2 or left[1] != right[0]:
        _refuse(left, right)
    return left[0], right[1]


@mutant("u10.matmul")
def operands_of_any_type(text):
    from xdsl.irdl import AnyAttr

    return _with(_right, text, operand=AnyAttr())


@mutant("u10.matmul")
def a_result_of_any_type(text):
    from xdsl.irdl import AnyAttr

    return _with(_right, text, outcome=AnyAttr())


@mutant("u10.matmul")
def tensors_of_any_elements(text):
    from xdsl.dialects.builtin import TensorType, UnrankedTensorType
    from xdsl.irdl import AnyOf, BaseAttr

    kind = AnyOf((BaseAttr(TensorType), BaseAttr(UnrankedTensorType)))
    return _with(_right, text, kind, kind)


@mutant("u10.matmul")
def two_operands_of_one_rank(text):
    return _with(lambda a, b: (a[0], b[-1]) if len(a) == len(b) and len(a) > 1 and a[1] == b[0]
                 else _refuse(a, b), text)  # fmt: skip


@mutant("u10.matmul")
def last_times_first(text):
    return _with(lambda a, b: (*a[:-1], *b[1:]) if a[-1:] == b[:1] and a and b
                 and len(a) + len(b) == 4 else _refuse(a, b), text)  # fmt: skip


@mutant("u10.matmul")
def not_pure(text):
    @irdl_op_definition
    class MatmulOp(IRDLOperation, InfersShape):
        name = "toy.matmul"
        lhs = operand_def(TENSOR)
        rhs = operand_def(TENSOR)
        result = result_def(TENSOR)
        assembly_format = Elementwise.assembly_format

        def inferred(self, shapes):
            return _right(*shapes)

    return with_shapes(text, MatmulOp)


@mutant("u10.matmul")
def with_a_verifier_in_place_of_the_interface(text):
    """Verified, but shape inference does not see it."""

    @irdl_op_definition
    class MatmulOp(IRDLOperation):
        name = "toy.matmul"
        lhs = operand_def(TENSOR)
        rhs = operand_def(TENSOR)
        result = result_def(TENSOR)
        assembly_format = Elementwise.assembly_format
        traits = traits_def(Pure())

        def verify_(self):
            left, right = shape_of(self.lhs), shape_of(self.rhs)
            if left is not None and right is not None:
                _right(left, right)

    return with_shapes(text, MatmulOp)


@alternative("u10.matmul")
def made_from_elementwise(text):
    @irdl_op_definition
    class MatmulOp(Elementwise):
        name = "toy.matmul"

        def inferred(self, shapes):
            return _right(*shapes)

    return with_shapes(text, MatmulOp)


@alternative("u10.matmul")
def gives_a_list(text):
    return _with(lambda a, b: [*_right(a, b)], text)


@alternative("u10.matmul")
def by_unpacking(text):
    def rule(left, right):
        try:
            (m, k), (same, n) = left, right
        except ValueError:
            raise VerifyException(f"no matrices: {left}, {right}") from None
        if k != same:
            raise VerifyException(f"{k} and {same} differ")
        return m, n

    return _with(rule, text)


@alternative("u10.matmul")
def with_its_own_verifier_too(text):
    @irdl_op_definition
    class MatmulOp(IRDLOperation, InfersShape):
        name = "toy.matmul"
        lhs = operand_def(TENSOR)
        rhs = operand_def(TENSOR)
        result = result_def(TENSOR)
        assembly_format = Elementwise.assembly_format
        traits = traits_def(Pure())

        def inferred(self, shapes):
            return shapes[0][0], shapes[1][1]

        def verify_(self):
            left, right = shape_of(self.lhs), shape_of(self.rhs)
            if left is not None and right is not None:
                _right(left, right)
            InfersShape.verify_(self)

    return with_shapes(text, MatmulOp)
