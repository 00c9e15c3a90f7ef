"""The tree to the Toy dialect (chapter 2), and structs (chapter 7): names become values.

    def f(a) { return a * a; }     ->     toy.func private @f(%a: tensor<*xf64>) -> tensor<*xf64> {
                                            %0 = toy.mul %a, %a : ...
                                            toy.return %0 : tensor<*xf64>
                                          }

A function is known from the end of its text on, as in C, so none can call itself. All names are
resolved here; no shape is, but those of literals. A program may call operations that are defined
elsewhere, if `operations` has a function for the name that makes one of the call:

    generate(tree, operations={"turned": lambda call, array: TransposeOp(array(call.arguments[0]))})

`array` gives the value of an argument, and refuses a struct. Next room: `canonical.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from course_lib.mlir.toy import ast
from course_lib.mlir.toy.dialect import (
    UNRANKED,
    AddOp,
    ConstantOp,
    MulOp,
    ReshapeOp,
    TransposeOp,
    dense,
    tensor,
)
from course_lib.mlir.toy.functions import CallOp, FuncOp, PrintOp, ReturnOp
from course_lib.mlir.toy.module import location
from course_lib.mlir.toy.source import Place, ToyError
from course_lib.mlir.toy.structs import StructAccessOp, StructConstantOp, StructType

FIELDS = 100  # of a struct; 30 structs of two of the one above have 2 ** 30
OperationT = TypeVar("OperationT", bound=Operation)
Made = Callable[[ast.Call, Callable[[ast.Expr], SSAValue]], Operation]


def generate(
    module: ast.Module, file: str = "input", operations: Mapping[str, Made] | None = None
) -> ModuleOp:
    """The module of a program. ToyError for a name that is unknown, known twice or misused."""
    known = _Known(file, operations or {})
    toy_module = ModuleOp([])
    for record in module.records:
        known.check_new(record)
        if isinstance(record, ast.Struct):
            known.add_struct(record)
        else:
            written = _Function(known, record)
            known.functions[record.name] = record, written.func_op, written.returned
            toy_module.body.block.add_op(written.func_op)
    _check_main(known)
    return toy_module


def _check_main(known: _Known) -> None:
    if "main" not in known.functions:
        raise ToyError("a program begins in a function 'main', and there is none")
    record, main, _ = known.functions["main"]
    if main.function_type.inputs or main.function_type.outputs:
        raise ToyError("main takes no parameters and returns nothing", record.place)


class _Known:
    """The structs and functions above a place in the text; of a function its tree, its operation
    and the struct that it returns, if it does."""

    def __init__(self, file: str, operations: Mapping[str, Made]) -> None:
        self.file, self.operations = file, operations
        self.structs: dict[str, ast.Struct] = {}
        self.types: dict[str, StructType] = {}
        self.sizes: dict[str | None, int] = {None: 1}
        self.functions: dict[str, tuple[ast.Function, FuncOp, str | None]] = {}

    def check_new(self, record: ast.Function | ast.Struct) -> None:
        if record.name in ("print", "transpose", *self.operations):
            raise ToyError(f"{record.name!r} is a function of Toy already", record.place)
        if record.name in self.structs or record.name in self.functions:
            raise ToyError(f"there are two definitions of {record.name!r}", record.place)

    def add_struct(self, struct: ast.Struct) -> None:
        if not struct.fields:
            raise ToyError(f"struct {struct.name!r} has no fields", struct.place)
        names = [field.name for field in struct.fields]
        for k, field in enumerate(struct.fields):
            if field.name in names[:k]:
                raise ToyError(f"{struct.name!r} has two fields {field.name!r}", field.place)
            if field.struct == struct.name:
                raise ToyError(f"{struct.name!r} cannot contain itself", field.place)
        struct_type = StructType.of([self.type(f.struct, f.place) for f in struct.fields])
        size = 1 + sum(self.sizes[f.struct] for f in struct.fields)
        if size > FIELDS:
            message = f"struct {struct.name!r} has more than {FIELDS} fields, with those inside"
            raise ToyError(message, struct.place)
        self.structs[struct.name], self.types[struct.name] = struct, struct_type
        self.sizes[struct.name] = size

    def struct(self, name: str, place: Place) -> ast.Struct:
        if name not in self.structs:
            raise ToyError(f"there is no struct {name!r} above", place)
        return self.structs[name]

    def type(self, struct: str | None, place: Place) -> Attribute:
        return UNRANKED if struct is None else self.types[self.struct(struct, place).name]


class _Function:
    """Writes one function. `scope` has the value of each variable, and its struct if it is one."""

    def __init__(self, known: _Known, function: ast.Function) -> None:
        self.known = known
        types = [known.type(p.struct, p.place) for p in function.params]
        block = Block(arg_types=types)
        self.scope: dict[str, tuple[SSAValue, str | None]] = {}
        for param, value in zip(function.params, block.args, strict=True):
            value.name_hint = param.name
            value.location = location(known.file, param.place)
            self.bind(param.name, value, param.struct, param.place)
        self.returned: str | None = None
        self.builder = Builder(InsertPoint.at_end(block))
        for statement in function.body:
            self.statement(statement)
        self.func_op = self.finished(function, types, block)

    def finished(self, function: ast.Function, types: Sequence[Attribute], block: Block) -> FuncOp:
        last = block.last_op
        if not isinstance(last, ReturnOp):
            last = self.add(ReturnOp(), function.place)
        kind = FunctionType.from_lists(types, last.operand_types)
        func_op = FuncOp(function.name, kind, Region(block), private=function.name != "main")
        func_op.location = location(self.known.file, function.place)
        return func_op

    def add(self, op: OperationT, place: Place) -> OperationT:
        op.location = location(self.known.file, place)
        return self.builder.insert(op)

    def bind(self, name: str, value: SSAValue, struct: str | None, place: Place) -> None:
        if name in self.scope:
            raise ToyError(f"there is a variable {name!r} already", place)
        self.scope[name] = value, struct

    # ── statements ──

    def statement(self, statement: ast.Statement) -> None:
        block = self.builder.insertion_point.block
        if isinstance(block.last_op, ReturnOp):
            raise ToyError("nothing is reached behind return", statement.place)
        match statement:
            case ast.Return(place=place, value=value):
                returned = self.value(value) if value else None
                self.returned = self.struct_of(value) if value else None
                self.add(ReturnOp(returned), place)
            case ast.Print(place=place, value=value):
                self.add(PrintOp(self.array(value, "print")), place)
            case ast.Declare():
                self.declare(statement)
            case ast.Call(function=name) if name in self.known.functions:
                self.call(statement)
            case _:
                self.value(statement)

    def declare(self, node: ast.Declare) -> None:
        if isinstance(node.value, ast.StructLiteral):
            if node.struct is None:
                message = "a struct literal stands behind the name of its struct: NAME v = {...}"
                raise ToyError(message, node.value.place)
            value = self.struct_literal(node.value, node.struct, node.place)
        else:
            value = self.value(node.value)
            self.check_struct(node.value, node.struct or self.struct_of(node.value), node.name)
        struct = node.struct or self.struct_of(node.value)
        if node.shape is not None:
            self.array(node.value, "a shape", value)
            value = self.add(ReshapeOp(value, tensor(node.shape)), node.place).result
        if value.name_hint is None:
            value.name_hint = node.name
        self.bind(node.name, value, struct, node.place)

    # ── expressions ──

    def value(self, expr: ast.Expr) -> SSAValue:
        match expr:
            case ast.Number() | ast.Literal():
                constant = ConstantOp.of(ast.numbers(expr), ast.shape_of(expr))
                return self.add(constant, expr.place).result
            case ast.Name(place=place, name=name):
                if name not in self.scope:
                    raise ToyError(f"there is no variable {name!r}", place)
                return self.scope[name][0]
            case ast.Binary(place=place, op=sign, left=left, right=right):
                kind = {"+": AddOp, "*": MulOp}[sign]
                lhs, rhs = self.array(left, sign), self.array(right, sign)
                return self.add(kind(lhs, rhs), place).result
            case ast.Member():
                return self.member(expr)
            case ast.StructLiteral(place=place):
                raise ToyError("a struct literal stands only in NAME v = {...}", place)
            case ast.Call(place=place, function="transpose", arguments=given):
                if len(given) != 1:
                    raise ToyError(f"transpose takes one array, got {len(given)}", place)
                return self.add(TransposeOp(self.array(given[0], "transpose")), place).result
            case ast.Call(place=place, function=name) if name in self.known.operations:
                try:
                    made = self.known.operations[name](expr, lambda given: self.array(given, name))
                except VerifyException as error:  # an attribute that cannot be
                    raise ToyError(str(error), place) from None
                return self.add(made, place).results[0]
            case ast.Call(place=place):
                results = self.call(expr)
                if not results:
                    raise ToyError(f"{expr.function} returns nothing, so it has no value", place)
                return results[0]

    def array(self, expr: ast.Expr, user: str, value: SSAValue | None = None) -> SSAValue:
        value = value or self.value(expr)
        if isinstance(value.type, StructType):
            raise ToyError(f"{user} needs an array, and this is a struct", expr.place)
        return value

    def call(self, expr: ast.Call) -> Sequence[SSAValue]:
        name = expr.function
        if name not in self.known.functions:
            raise ToyError(f"there is no function {name!r} above", expr.place)
        function, func_op, _ = self.known.functions[name]
        if len(function.params) != len(expr.arguments):
            message = f"{name} takes {len(function.params)} arguments, got {len(expr.arguments)}"
            raise ToyError(message, expr.place)
        values = [self.value(argument) for argument in expr.arguments]
        for argument, param in zip(expr.arguments, function.params, strict=True):
            self.check_struct(argument, param.struct, f"{param.name} of {name}")
        outputs = func_op.function_type.outputs.data
        results = [t if isinstance(t, StructType) else UNRANKED for t in outputs]
        return self.add(CallOp(name, values, results), expr.place).res

    # ── structs ──

    def member(self, expr: ast.Member) -> SSAValue:
        value, name = self.value(expr.value), self.struct_of(expr.value)
        if name is None:
            raise ToyError(f"a value with a field {expr.field!r} is a struct", expr.place)
        fields = [field.name for field in self.known.structs[name].fields]
        if expr.field not in fields:
            message = f"{name} has no field {expr.field!r}, but {', '.join(fields)}"
            raise ToyError(message, expr.place)
        return self.add(StructAccessOp(value, fields.index(expr.field)), expr.place).result

    def struct_of(self, expr: ast.Expr) -> str | None:
        """The struct whose fields a value has, if the text says it."""
        match expr:
            case ast.Name(name=name):
                return self.scope[name][1]
            case ast.Member(value=value, field=field):
                struct = self.known.structs[self.struct_of(value) or ""]
                return next(f.struct for f in struct.fields if f.name == field)
            case ast.Call(function=name) if name in self.known.functions:
                return self.known.functions[name][2]
        return None

    def check_struct(self, expr: ast.Expr, wanted: str | None, name: str) -> None:
        given = self.struct_of(expr)
        if given != wanted:
            kinds = [f"a {struct}" if struct else "an array" for struct in (wanted, given)]
            raise ToyError(f"{name} is {kinds[0]}, and this value {kinds[1]}", expr.place)

    def struct_literal(self, node: ast.StructLiteral, name: str, place: Place) -> SSAValue:
        struct = self.known.struct(name, place)
        value = self.struct_value(node, struct)
        return self.add(StructConstantOp(value, self.known.types[name]), node.place).result

    def struct_value(self, node: ast.StructLiteral, struct: ast.Struct) -> ArrayAttr:
        if len(node.items) != len(struct.fields):
            message = f"{struct.name} has {len(struct.fields)} fields, here are {len(node.items)}"
            raise ToyError(f"{message} values", node.place)
        values = []
        for item, field in zip(node.items, struct.fields, strict=True):
            if isinstance(item, ast.StructLiteral) != (field.struct is not None):
                kind = f"a {field.struct}" if field.struct else "an array"
                raise ToyError(f"{struct.name}.{field.name} is {kind}", item.place)
            if isinstance(item, ast.StructLiteral):
                inner = self.known.struct(field.struct or "", field.place)
                values.append(self.struct_value(item, inner))
            else:
                values.append(dense(ast.numbers(item), ast.shape_of(item)))
        return ArrayAttr(cast("list[Attribute]", values))
