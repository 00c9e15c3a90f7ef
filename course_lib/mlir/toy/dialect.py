"""The Toy dialect (chapter 2): operations on tensors, what each must satisfy, what shape it gives.

    %2 = toy.mul %0, %1 : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %3 = toy.transpose %2 : tensor<3x2xf64> to tensor<2x3xf64>
    %4 = toy.reshape %3 : tensor<2x3xf64> to tensor<6xf64>

A class is an operation: its operands, attributes and results are fields, `assembly_format` is its
text, `verify_` says what IRDL cannot. A tensor whose shape is not known yet is `tensor<*xf64>`.
Shape inference asks an operation through the interface `InfersShape`, whichever it is. MLIR's
tutorial writes the same in ODS and C++. Next room: `structs.py`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float64Type,
    TensorType,
    UnrankedTensorType,
    f64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from course_lib.mlir.toy.ast import LARGEST, Shape, angled

RANKED = TensorType[Float64Type].constr(f64)
TENSOR = AnyOf((RANKED, BaseAttr(UnrankedTensorType)))
TENSORS = (TensorType, UnrankedTensorType)
UNRANKED = UnrankedTensorType(f64)


def tensor(shape: Sequence[int]) -> TensorType[Float64Type]:
    return TensorType(f64, shape)


def shape_of(value: SSAValue) -> Shape | None:
    """The shape of a value; None if it is not known yet, or if the value is no tensor.
    VerifyException for a tensor of which only some sizes are known, or that is too large."""
    if not isinstance(value.type, TensorType):
        return None
    if not value.type.has_static_shape():
        raise VerifyException(f"a tensor of Toy has all of its sizes or none, got {value.type}")
    if math.prod(value.type.get_shape()) > LARGEST:
        raise VerifyException(f"an array has at most {LARGEST} elements, this is a {value.type}")
    return value.type.get_shape()


def compatible(given: Attribute, wanted: Attribute) -> bool:
    """May a value of the one type stand for the other? A tensor may, if one shape is unknown."""
    tensors = isinstance(given, TENSORS) and isinstance(wanted, TENSORS)
    return given == wanted or (tensors and UNRANKED in (given, wanted))


class InfersShape(Operation, ABC):
    """An interface: an operation with one result whose shape follows from those of its operands."""

    @abstractmethod
    def inferred(self, shapes: Sequence[Shape]) -> Shape:
        """The shape of the result, given those of the operands. VerifyException if none fits."""

    def verify_(self) -> None:
        shapes = [shape_of(operand) for operand in self.operands]
        known = [shape for shape in shapes if shape is not None]
        if len(known) == len(shapes):
            expected, stated = tuple(self.inferred(known)), shape_of(self.results[0])
            if stated not in (None, expected):
                message = f"the result has shape {angled(expected)}, not {angled(stated or ())}"
                raise VerifyException(f"{self.name}: {message}")


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """An array that the text of the program contains."""

    name = "toy.constant"
    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(RANKED)
    traits = traits_def(Pure())

    def __init__(self, value: DenseIntOrFPElementsAttr) -> None:
        super().__init__(properties={"value": value}, result_types=[value.type])

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error(f"expected numbers, as in dense<1.0> : tensor<2xf64>, got {value}")
        return ConstantOp(value)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.value)

    @staticmethod
    def of(numbers: Sequence[float], shape: Shape) -> ConstantOp:
        return ConstantOp(dense(numbers, shape))

    def verify_(self) -> None:
        shape_of(self.result)
        if self.value.type != self.result.type:
            message = f"the value is a {self.value.type}, the result a {self.result.type}"
            raise VerifyException(f"{self.name}: {message}")


def dense(numbers: Sequence[float], shape: Shape) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr.from_list(tensor(shape), numbers)


class Elementwise(IRDLOperation, InfersShape):
    """What `add` and `mul` share: two tensors of one shape, and a result of that shape."""

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)
    assembly_format = (
        "$lhs `,` $rhs `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result) attr-dict"
    )
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue, result: Attribute = UNRANKED) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[result])

    def inferred(self, shapes: Sequence[Shape]) -> Shape:
        left, right = shapes
        if left != right:
            message = f"needs two tensors of one shape, got {angled(left)} and {angled(right)}"
            raise VerifyException(f"{self.name} {message}")
        return left


@irdl_op_definition
class AddOp(Elementwise):
    name = "toy.add"


@irdl_op_definition
class MulOp(Elementwise):
    name = "toy.mul"


class OnOne(IRDLOperation):
    """What has one operand and one result, and is written `OP %x : TYPE to TYPE`."""

    input = operand_def(TENSOR)
    result = result_def(TENSOR)
    assembly_format = "$input `:` type($input) `to` type($result) attr-dict"
    traits = traits_def(Pure())

    def __init__(self, input: SSAValue, result: Attribute = UNRANKED) -> None:
        super().__init__(operands=[input], result_types=[result])


@irdl_op_definition
class TransposeOp(OnOne, InfersShape):
    """result[i, j] = input[j, i]; of any rank, the dimensions in reverse order."""

    name = "toy.transpose"

    def inferred(self, shapes: Sequence[Shape]) -> Shape:
        return shapes[0][::-1]


@irdl_op_definition
class CastOp(OnOne, InfersShape):
    """The same tensor with a type that knows its shape, or does not: inlining needs it."""

    name = "toy.cast"

    def inferred(self, shapes: Sequence[Shape]) -> Shape:
        return shapes[0]


@irdl_op_definition
class ReshapeOp(OnOne):
    """The same elements in another shape. A tensor of rank 0 fills all of its result, so that
    `var a<2, 2> = 5.5` means what it says."""

    name = "toy.reshape"
    result = result_def(RANKED)

    def verify_(self) -> None:
        given, wanted = shape_of(self.input), shape_of(self.result)
        if given and wanted is not None and math.prod(given) != math.prod(wanted):
            message = f"{angled(given)} has {math.prod(given)} elements, {angled(wanted)} has"
            raise VerifyException(f"{self.name}: {message} {math.prod(wanted)}")
