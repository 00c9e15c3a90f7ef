"""The struct type and its two operations (chapter 7).

    %0 = toy.struct_constant [dense<...> : tensor<2x2xf64>, dense<...> : tensor<2x2xf64>]
         : !toy.struct<tensor<*xf64>, tensor<*xf64>>
    %1 = toy.struct_access %0[1] : !toy.struct<tensor<*xf64>, tensor<*xf64>> -> tensor<*xf64>

Fields have numbers here, their names stay in the tree. Structs are made of constants only, so
after inlining every access is a constant (`canonical.py`) and no struct reaches the loops. Next
room: `functions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import I64, ArrayAttr, DenseIntOrFPElementsAttr, IntegerAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from course_lib.mlir.toy.dialect import compatible


@irdl_attr_definition
class StructType(ParametrizedAttribute, TypeAttribute):
    """The types of the fields: tensors, or structs again."""

    name = "toy.struct"
    fields: ArrayAttr

    @staticmethod
    def of(fields: Sequence[Attribute]) -> StructType:
        return StructType(ArrayAttr(fields))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        kind = parser.Delimiter.ANGLE
        return [ArrayAttr(parser.parse_comma_separated_list(kind, parser.parse_type))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.fields, printer.print_attribute)

    def verify(self) -> None:
        if not self.fields.data:
            raise VerifyException("a struct has at least one field")


@irdl_op_definition
class StructConstantOp(IRDLOperation):
    """A struct literal: an array, or a list of the same kind for a struct, for each field."""

    name = "toy.struct_constant"
    value = prop_def(ArrayAttr)
    result = result_def(StructType)
    assembly_format = "$value `:` type($result) attr-dict"
    traits = traits_def(Pure())

    def __init__(self, value: ArrayAttr, type: StructType) -> None:
        super().__init__(properties={"value": value}, result_types=[type])

    def verify_(self) -> None:
        if not _fits(self.value, self.result.type):
            raise VerifyException(f"{self.name}: these values do not fit a {self.result.type}")


@irdl_op_definition
class StructAccessOp(IRDLOperation):
    """The field of a struct with this number."""

    name = "toy.struct_access"
    input = operand_def(StructType)
    index = prop_def(IntegerAttr[I64])
    result = result_def()
    assembly_format = "$input `[` $index `]` `:` type($input) `->` type($result) attr-dict"
    traits = traits_def(Pure())

    def __init__(self, input: SSAValue, index: int) -> None:
        fields = cast(StructType, input.type).fields.data
        super().__init__(
            operands=[input],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[fields[index]],
        )

    def verify_(self) -> None:
        fields = cast(StructType, self.input.type).fields.data
        index = self.index.value.data
        if not 0 <= index < len(fields):
            message = f"there is no field {index} in a struct of {len(fields)}"
            raise VerifyException(f"{self.name}: {message}")
        if self.result.type != fields[index]:
            raise VerifyException(f"{self.name}: field {index} is a {fields[index]}")


def _fits(value: Attribute, type: Attribute) -> bool:
    if isinstance(value, DenseIntOrFPElementsAttr):
        return compatible(value.type, type)
    if not isinstance(value, ArrayAttr) or not isinstance(type, StructType):
        return False
    pairs = list(zip(value, type.fields, strict=False))
    return len(value) == len(type.fields) and all(_fits(v, t) for v, t in pairs)
