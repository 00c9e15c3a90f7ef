"""Shape inference: from the shapes of literals to those of all values (chapter 4).

    %1 = toy.transpose %0 : tensor<2x3xf64> to tensor<*xf64>
    ->
    %1 = toy.transpose %0 : tensor<2x3xf64> to tensor<3x2xf64>

A function is one block, so an operation's operands are known before it, and one walk is enough.
The pass knows no operation by name: it asks through the interface `InfersShape`. Next room:
`affine.py`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from course_lib.mlir.toy.dialect import UNRANKED, InfersShape, shape_of, tensor
from course_lib.mlir.toy.module import located


def infer_shapes(module: ModuleOp) -> None:
    """Give every result its shape. ToyError where shapes do not fit, or one cannot be known."""
    for op in list(module.walk()):
        shapes = [shape_of(operand) for operand in op.operands]
        known = [shape for shape in shapes if shape is not None]
        if isinstance(op, InfersShape) and len(known) == len(shapes):
            try:
                shape = op.inferred(known)
            except VerifyException as error:
                raise located(str(error), op) from None
            if op.results[0].type == UNRANKED:
                Rewriter.replace_value_with_new_type(op.results[0], tensor(shape))
        if UNRANKED in op.result_types:
            raise located("the shape of this value cannot be known", op)
