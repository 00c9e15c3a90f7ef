"""A module of the NPU dialect: read, printed, verified; and what is wrong with it, in words.

    verify(module)   ->   NpuError: npu.matmul: 40 columns of weights, but the array has 32
                            in npu.matmul %3, %4 into %5 : ...

Next room: `product.py`.
"""

from __future__ import annotations

from io import StringIO

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import affine, arith, builtin, func, linalg, math, memref, tensor
from xdsl.dialects.builtin import FileLineColLoc, IntegerType, ModuleOp
from xdsl.dialects.linalg import ops
from xdsl.ir import Block, Dialect, Operation
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import ParseError, VerifyException

from course_lib.mlir.npu.dialect import ActivateOp, ClearOp, MatmulOp, ProductOp
from course_lib.mlir.npu.machine import PanelsAttr, SpaceAttr
from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp
from course_lib.mlir.reading import Reader
from course_lib.mlir.trouble import trouble

NPU = Dialect(
    "npu",
    [ActivateOp, BufferOp, ClearOp, DmaLoadOp, DmaStoreOp, MatmulOp, ProductOp, SlotOp],
    [PanelsAttr, SpaceAttr],
)
OTHERS = (
    builtin.Builtin,
    func.Func,
    affine.Affine,
    arith.Arith,
    linalg.Linalg,
    math.Math,
    memref.MemRef,
    tensor.Tensor,
)


LARGEST = 1 << 26  # elements of a tensor or memref that is read


class NpuError(ValueError):
    """What is wrong with a program, and where."""


def context(*operations: type[Operation]) -> Context:
    """The dialects of all stages, and perhaps more operations."""
    dialects = Context()
    for dialect in (NPU, *OTHERS):
        dialects.load_dialect(dialect)
    for operation in operations:
        dialects.load_op(operation)
    return dialects


def read(text: str, file: str = "input.mlir", *operations: type[Operation]) -> ModuleOp:
    """A module from its text, in which these operations may stand, too. NpuError with line and
    column if it is none."""
    if (refusal := trouble(text, LARGEST)) is not None:
        raise NpuError(f"{file}:{_place(text, refusal[1])}: {refusal[0]}")
    try:
        module = Reader(context(*operations), text, file).parse_module()
    except ParseError as error:
        raise NpuError(f"{file}:{_place(text, error.span.start)}: {error.msg}") from None
    except VerifyException as error:  # an attribute or a type that cannot be
        raise NpuError(f"{file}: {error}") from None
    except Exception as error:  # xDSL ends some texts so that are no MLIR
        raise NpuError(f"{file} cannot be read: {error}") from error
    for op in module.walk():
        if isinstance(op, ops.MatmulOp):
            _widen(op)
    return module


def _place(text: str, at: int) -> str:
    before = text[:at]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def _widen(op: ops.MatmulOp) -> None:
    """The body of linalg.matmul as MLIR has it: operands are extended, then multiplied. xDSL 0.74
    leaves that out, and then refuses what it made."""
    body, block = op.body, op.body.block
    first, _, kind = block.arg_types
    if first == kind or not isinstance(first, IntegerType) or not isinstance(kind, IntegerType):
        return
    widened = Block(arg_types=block.arg_types)
    builder, (*factors, total) = Builder(InsertPoint.at_end(widened)), widened.args
    a, b = (builder.insert(arith.ExtSIOp(value, kind)).result for value in factors)
    product = builder.insert(arith.MuliOp(a, b)).result
    builder.insert(ops.YieldOp(builder.insert(arith.AddiOp(product, total)).result))
    body.detach_block(block)
    block.erase()
    body.add_block(widened)


def written(module: ModuleOp) -> str:
    """The text of a module."""
    out = StringIO()
    Printer(out).print_op(module)
    return out.getvalue()


def verify(module: ModuleOp) -> ModuleOp:
    """The module; NpuError for the first operation that breaks its rules."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            raise located(str(error), op) from None
        except Exception as error:  # as above
            raise located(f"this is wrong: {error}", op) from error
    return module


def located(what: str, op: Operation) -> NpuError:
    """An error about an operation: its place in the source if it has one, or else its text."""
    message = what.strip() if what.startswith(op.name) else f"{op.name}: {what.strip()}"
    if isinstance(place := op.location, FileLineColLoc):
        return NpuError(f"{place.filename.data}:{place.line.data}:{place.column.data}: {message}")
    return NpuError(message if op.regions else f"{message}\n  in {op!s}")


def functions(module: ModuleOp) -> list[func.FuncOp]:
    """The functions of a module that have a body. NpuError for one of several blocks."""
    with_body = [op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks]
    for op in with_body:
        if len(op.body.blocks) > 1:
            raise located("a function for the chip has no branches", op)
    return with_body
