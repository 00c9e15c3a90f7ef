"""Answers that define an operation of the Toy dialect.

What needs xDSL is imported where it is used. Next room: transposes.py.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternatives, mutants

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.irdl import irdl_op_definition
    from xdsl.utils.exceptions import VerifyException

    from course_lib.mlir.toy.dialect import Elementwise
    from lessons.u10.dialect import with_shapes

MATRICES, FITS = "len(left) != 2 or len(right) != 2", "left[1] != right[0]"
BAD, SHAPE = f"{MATRICES} or {FITS}", "return (left[0], right[1])"
DEFINITION = "@irdl_op_definition"
ANY_TENSOR = """from xdsl.dialects.builtin import TensorType, UnrankedTensorType
    from xdsl.irdl import AnyOf, BaseAttr
    TENSOR = AnyOf((BaseAttr(TensorType), BaseAttr(UnrankedTensorType)))
    @irdl_op_definition"""
INFERRED = "inferred(self, shapes: Sequence[Shape]) -> Shape:\n            left, right = shapes"
VERIFY = """verify_(self):
            from course_lib.mlir.toy.dialect import shape_of
            left, right = map(shape_of, self.operands)
            if left is None or right is None:
                return"""

mutants(
    "u10.matmul",
    shape_of_the_left=(SHAPE, "return left"),
    outer_sizes_exchanged=(SHAPE, "return (right[1], left[0])"),
    never_refuses=(BAD, "False", "right[1]", "right[-1]"),
    only_looks_at_the_inner_sizes=(BAD, "left[-1:] != right[:1]", "right[1]", "right[-1]"),
    compares_the_wrong_sizes=(FITS, f"({FITS} and left[0] != right[1])"),
    # Of matrices that are not square, it believes that they fit.
    only_square=(FITS, f"left[0] == left[1] and right[0] == right[1] and {FITS}"),
    another_kind_of_error=("VerifyException", "ValueError"),
    without_its_decorator=(DEFINITION, ""),
    as_mul=(BAD, "left != right", SHAPE, "return left"),
    operands_of_any_type=("lhs = operand_def(TENSOR)", "lhs = operand_def()",
                          "rhs = operand_def(TENSOR)", "rhs = operand_def()"),
    a_result_of_any_type=("result_def(TENSOR)", "result_def()"),
    tensors_of_any_elements=(DEFINITION, ANY_TENSOR),
    two_operands_of_one_rank=(MATRICES, "len(left) != len(right) or len(left) < 2",
                              "right[1]", "right[-1]"),
    last_times_first=(BAD, "left[-1:] != right[:1] or len(left) + len(right) != 4",
                      SHAPE, "return (*left[:-1], *right[1:])"),
    not_pure=("traits = traits_def(Pure())", ""),
    # Verified, but shape inference does not see it.
    with_a_verifier_in_place_of_the_interface=(", InfersShape)", ")", INFERRED, VERIFY),
)  # fmt: skip


def _from_elementwise(rule):
    def answer(text):
        @irdl_op_definition
        class MatmulOp(Elementwise):
            name = "toy.matmul"

            def inferred(self, shapes):
                return rule(*shapes)

        return with_shapes(text, MatmulOp)

    return answer


def _product(left, right):
    if len(left) != 2 or len(right) != 2 or left[1] != right[0]:
        raise VerifyException(f"no product of {left} and {right}")
    return left[0], right[1]


def _unpacked(left, right):
    try:
        (m, k), (same, n) = left, right
    except ValueError:
        raise VerifyException(f"no matrices: {left}, {right}") from None
    if k != same:
        raise VerifyException(f"{k} and {same} differ")
    return m, n


alternatives(
    "u10.matmul",
    made_from_elementwise=_from_elementwise(_product),
    gives_a_list=(SHAPE, "return [left[0], right[1]]"),
    by_unpacking=_from_elementwise(_unpacked),
    with_its_own_verifier_too=(
        SHAPE, "InfersShape.verify_(self)",
        INFERRED, f"inferred(self, shapes):\n            return (shapes[0][0], shapes[1][1])\n\n"
                  f"        def {VERIFY}"),
)  # fmt: skip
