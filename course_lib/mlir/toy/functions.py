"""The rest of the Toy dialect (chapter 2): functions, calls, return, print.

    toy.func private @twice(%a: tensor<*xf64>) -> tensor<*xf64> {
      %0 = toy.add %a, %a : (tensor<*xf64>, tensor<*xf64>) -> tensor<*xf64>
      toy.return %0 : tensor<*xf64>
    }
    %1 = toy.generic_call @twice(%0) : (tensor<2x3xf64>) -> tensor<*xf64>

A function does not say for which shapes: a call decides. Where a tensor of unknown shape is
expected, one of known shape will do. Next room: `module.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    ReturnLike,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from course_lib.mlir.toy.dialect import compatible

NAMES = ("sym_name", "function_type", "sym_visibility")


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function: one block, whose arguments are the parameters, and `toy.return` at its end."""

    name = "toy.func"
    body = region_def("single_block")
    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, type: FunctionType, body: Region, private: bool = False) -> None:
        visibility = StringAttr("private") if private else None
        values = (StringAttr(name), type, visibility)
        super().__init__(properties=dict(zip(NAMES, values, strict=True)), regions=[body])

    @property
    def block(self) -> Block:
        return self.body.block

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        private = parser.parse_optional_visibility_keyword() is not None
        name, inputs, outputs, body, *_ = parse_func_op_like(parser, reserved_attr_names=NAMES)
        return FuncOp(name, FunctionType.from_lists(inputs, outputs), body, private)

    def print(self, printer: Printer) -> None:
        if self.sym_visibility:
            printer.print_string(f" {self.sym_visibility.data}")
        parts = self.sym_name, self.function_type, self.body, self.attributes
        print_func_op_like(printer, *parts, reserved_attr_names=NAMES)

    def verify_(self) -> None:
        if tuple(self.block.arg_types) != self.function_type.inputs.data:
            raise VerifyException(f"{self.name}: the block's arguments are not the parameters")
        last = self.block.last_op
        if not isinstance(last, ReturnOp):
            raise VerifyException(f"{self.name}: the last operation is toy.return")
        _check_types("toy.return", last.operand_types, self.function_type.outputs.data)


class _CallsAFunction(SymbolUserOpInterface):
    """The function that is called exists, and its types fit."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        function = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(function, FuncOp):
            raise VerifyException(f"{op.name}: there is no function {op.callee}")
        callee = f"{op.name} {op.callee}"
        _check_types(f"{callee}, arguments", op.operand_types, function.function_type.inputs.data)
        _check_types(f"{callee}, results", op.result_types, function.function_type.outputs.data)


@irdl_op_definition
class CallOp(IRDLOperation):
    """A call. Its result has the shape that these arguments give it, which nobody knows yet."""

    name = "toy.generic_call"
    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    res = var_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type(operands, results)"
    traits = traits_def(_CallsAFunction())

    def __init__(
        self, callee: str, arguments: Sequence[SSAValue], results: Sequence[Attribute]
    ) -> None:
        super().__init__(
            properties={"callee": SymbolRefAttr(callee)},
            operands=[arguments],
            result_types=[results],
        )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    name = "toy.return"
    input = opt_operand_def()
    assembly_format = "($input^ `:` type($input))? attr-dict"
    traits = traits_def(IsTerminator(), ReturnLike(), HasParent(FuncOp))

    def __init__(self, input: SSAValue | None = None) -> None:
        super().__init__(operands=[input])


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Write the elements of a tensor; below the loops, of a memref."""

    name = "toy.print"
    input = operand_def()
    assembly_format = "$input `:` type($input) attr-dict"

    def __init__(self, input: SSAValue) -> None:
        super().__init__(operands=[input])


def _check_types(what: str, given: Sequence[Attribute], wanted: Sequence[Attribute]) -> None:
    if len(given) != len(wanted):
        raise VerifyException(f"{what}: expected {len(wanted)} values, got {len(given)}")
    for g, w in zip(given, wanted, strict=True):
        if not compatible(g, w):
            raise VerifyException(f"{what}: expected a {w}, got a {g}")
