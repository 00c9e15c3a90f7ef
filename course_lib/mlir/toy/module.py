"""A module of MLIR that holds Toy: read, printed, verified; places in it (chapter 2).

    verify(module)   ->   ToyError: toy.mul needs two tensors of one shape, got <2, 2> and <3, 2>
                            at line:5:23
                            called at line:28:11

Every operation has a location, and inlining keeps it: `callsite("f.toy":5:23 at "f.toy":28:11)`.
So an error that only shows after inlining still leads to the line that somebody wrote. Next room:
`generate.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from xdsl.context import Context
from xdsl.dialects import affine, arith, builtin, cf, func, memref, scf
from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from course_lib.mlir.reading import Reader
from course_lib.mlir.toy.ast import LARGEST
from course_lib.mlir.toy.dialect import AddOp, CastOp, ConstantOp, MulOp, ReshapeOp, TransposeOp
from course_lib.mlir.toy.functions import CallOp, FuncOp, PrintOp, ReturnOp
from course_lib.mlir.toy.source import Place, ToyError
from course_lib.mlir.toy.structs import StructAccessOp, StructConstantOp, StructType
from course_lib.mlir.trouble import trouble

TOY = Dialect(
    "toy",
    [
        AddOp,
        CallOp,
        CastOp,
        ConstantOp,
        FuncOp,
        MulOp,
        PrintOp,
        ReshapeOp,
        ReturnOp,
        StructAccessOp,
        StructConstantOp,
        TransposeOp,
    ],
    [StructType],
)
OTHERS = (
    builtin.Builtin,
    func.Func,
    affine.Affine,
    arith.Arith,
    memref.MemRef,
    scf.Scf,
    cf.Cf,
)


def context(operations: Sequence[type[Operation]] = ()) -> Context:
    """The dialects of all stages, and operations that are defined elsewhere."""
    dialects = Context()
    for dialect in (TOY, *OTHERS):
        dialects.load_dialect(dialect)
    for operation in operations:
        dialects.load_op(operation)
    return dialects


def read(text: str, file: str = "input", operations: Sequence[type[Operation]] = ()) -> ModuleOp:
    """A module from MLIR's text, which may contain these operations, too. ToyError with line and
    column if it is none."""
    if refusal := trouble(text, LARGEST):
        raise ToyError(f"syntax error: {refusal[0]}", _place(text, refusal[1]))
    try:
        return Reader(context(operations), text, file).parse_module()
    except ParseError as error:
        raise ToyError(f"syntax error: {error.msg}", _place(text, error.span.start)) from None
    except VerifyException as error:  # an attribute or a type that cannot be
        raise ToyError(str(error)) from None
    except AssertionError:  # xDSL's parser has some where a text is to blame
        raise ToyError(f"syntax error: xDSL's parser gives up on {file}") from None


def _place(text: str, at: int) -> Place:
    before = text[:at]
    return Place(before.count("\n") + 1, len(before) - before.rfind("\n"))


def written(module: ModuleOp, locations: bool = False) -> str:
    """The text of a module; with the location of each operation if asked for."""
    out = StringIO()
    Printer(out, print_debuginfo=locations).print_op(module)
    return out.getvalue()


def location(file: str, place: Place) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(file), IntAttr(place.line), IntAttr(place.column))


def places(where: Attribute) -> tuple[Place, ...]:
    """The place in the source that a location stands for, and then those of the calls."""
    match where:
        case FileLineColLoc(line=line, column=column):
            return (Place(line.data, column.data),)
        case CallSiteLoc(callee=callee, caller=caller):
            calls = [Place(p.line, p.column, "called at") for p in places(caller)]
            return (*places(callee), *calls)
    return ()


def verify(module: ModuleOp) -> None:
    """ToyError for the first operation, in the order of the text, that breaks its own rules."""
    for op in module.walk():
        verify_op(op)


def verify_op(op: Operation) -> None:
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException as error:
        raise located(str(error), op) from None


def located(what: str, op: Operation) -> ToyError:
    """An error about an operation: named, with its place in the source, or else its text."""
    message = what.strip() if what.startswith(op.name) else f"{op.name}: {what.strip()}"
    sources = places(op.location)
    return ToyError(message if sources or op.regions else f"{message}\n  in {op!s}", *sources)
