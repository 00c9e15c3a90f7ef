"""Inlining: a call becomes a copy of what it calls, so that shapes can flow in (chapter 4).

    %1 = toy.generic_call @twice(%0) : (tensor<2xf64>) -> tensor<*xf64>
    ->
    %2 = toy.cast %0 : tensor<2xf64> to tensor<*xf64>
    %1 = toy.add %2, %2 : (tensor<*xf64>, tensor<*xf64>) -> tensor<*xf64>

A copied operation remembers both places, its own and that of the call. Callees come first: what is
copied has no calls left in it. After that no private function is needed. Next room: `shapes.py`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from course_lib.mlir.toy.dialect import CastOp
from course_lib.mlir.toy.functions import CallOp, FuncOp, ReturnOp
from course_lib.mlir.toy.module import located

MOST = 10_000  # operations of a function: 30 that each call the one above twice have 2 ** 30


def inline(module: ModuleOp) -> None:
    """Replace every call, and drop the private functions. ToyError if that never ends."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    sizes: dict[str, int] = {}
    for name in functions:
        _without_calls(name, functions, sizes, ())
    for function in functions.values():
        if function.sym_visibility is not None and function.sym_visibility.data == "private":
            function.detach()
            function.erase()


def _without_calls(
    name: str, functions: dict[str, FuncOp], sizes: dict[str, int], callers: tuple[str, ...]
) -> None:
    """Inline what a function calls; `sizes` has the operations of each function that is done."""
    if name in sizes:
        return
    operations = list(functions[name].block.ops)
    size = len(operations)
    for call in [op for op in operations if isinstance(op, CallOp)]:
        callee, chain = call.callee.root_reference.data, (*callers, name)
        if callee in chain:
            cycle = " calls ".join((*chain[chain.index(callee) :], callee))
            raise located(f"every call is inlined, and this would never end: {cycle}", call)
        _without_calls(callee, functions, sizes, chain)
        size += sizes[callee]
        if size > MOST:
            raise located(f"with all calls inlined, {name} has more than {MOST} operations", call)
        _inline(call, functions[callee])
    sizes[name] = size


def _inline(call: CallOp, function: FuncOp) -> None:
    block = call.parent
    assert block is not None

    def put(op: Operation, where: LocationAttr) -> Operation:
        op.location = where
        block.insert_op_before(op, call)
        return op

    def as_type(value: SSAValue, type: Attribute) -> SSAValue:
        if value.type == type:
            return value
        return put(CastOp(value, type), call.location).results[0]

    values: dict[SSAValue, SSAValue] = {}
    for argument, given in zip(function.block.args, call.arguments, strict=True):
        values[argument] = as_type(given, argument.type)
    for op in function.block.ops:
        if isinstance(op, ReturnOp):
            returned = [values[operand] for operand in op.operands]
            for old, new in zip(call.res, returned, strict=True):
                old.replace_all_uses_with(as_type(new, old.type))
        else:
            put(op.clone(values), CallSiteLoc(op.location, call.location))
    call.detach()
    call.erase()
