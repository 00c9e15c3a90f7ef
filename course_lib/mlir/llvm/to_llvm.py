"""The last lowering: functions and blocks of MLIR to LLVM IR; scalars and memory in files beside.

    ^bb1(%i: index):                               bb1:
      %c = arith.cmpi slt, %i, %n : index    ->      %i = phi i64 [0, %bb0], [%next, %bb2]
      cf.cond_br %c, ^bb2, ^bb3                      %c = icmp slt i64 %i, %n
                                                     br i1 %c, label %bb2, label %bb3

The two forms differ in one point: MLIR's block has arguments, and a branch says what they are;
LLVM's has phi nodes, and each says what it is by branch. A function stays a function; one without
a body is somebody else's. What has no case here is refused with its text. Next room: `execute.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from llvmlite import ir
from xdsl.dialects import builtin, cf, func, memref
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.post_order import PostOrderIterator

from course_lib.mlir.llvm.memory import MEMORY, emit_global
from course_lib.mlir.llvm.scalars import emit_scalar
from course_lib.mlir.llvm.types import VOID, lowered, refused


def to_llvm(module: builtin.ModuleOp, name: str = "mlir") -> ir.Module:
    """LLVM IR for functions over scalars and memrefs of static shape, and their globals.

    ValueError with the operation's text for what cannot be said: a dialect that should have been
    lowered before, a dynamic size, more than one result.
    """
    llvm_module = ir.Module(name)
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    for op in module.ops:
        if isinstance(op, memref.GlobalOp):
            emit_global(llvm_module, op)
        elif not isinstance(op, func.FuncOp):
            raise refused(op)
    for op in functions:
        _declare(llvm_module, op)
    for op in functions:
        if op.body.blocks:
            _Body(llvm_module, op).emit()
    return llvm_module


def _declare(module: ir.Module, op: func.FuncOp) -> None:
    outputs = op.function_type.outputs.data
    if len(outputs) > 1:
        raise refused(op, "a function returns at most one value here")
    result = lowered(outputs[0], op) if outputs else VOID
    parameters = [lowered(type, op) for type in op.function_type.inputs]
    ir.Function(module, ir.FunctionType(result, parameters), op.sym_name.data)


class _Body:
    """Emits one function. `values` has LLVM's value for each of MLIR's that came before."""

    def __init__(self, module: ir.Module, op: func.FuncOp) -> None:
        function = cast(ir.Function, module.globals[op.sym_name.data])
        entry = op.body.blocks[0]
        order = list(dict.fromkeys(PostOrderIterator(entry)))[::-1]  # a value before its users
        reached = [block for block in op.body.blocks if block in order]
        llvm_blocks = {block: function.append_basic_block("bb") for block in reached}
        self.blocks = {block: ir.IRBuilder(llvm_blocks[block]) for block in order}
        self.values: dict[SSAValue, ir.Value] = dict(zip(entry.args, function.args, strict=True))
        for block in order[1:]:
            for argument in block.args:
                self.values[argument] = self.blocks[block].phi(lowered(argument.type, op))

    def emit(self) -> None:
        for block, builder in self.blocks.items():
            for op in block.ops:
                result = self.operation(op, builder, [self.values[v] for v in op.operands])
                if result is not None and op.results:
                    self.values[op.results[0]] = result

    def operation(
        self, op: Operation, builder: ir.IRBuilder, operands: Sequence[ir.Value]
    ) -> ir.Value | None:
        match op:
            case func.ReturnOp():
                builder.ret(operands[0]) if operands else builder.ret_void()
            case func.CallOp(callee=callee):
                called = builder.module.globals.get(callee.root_reference.data)
                if not isinstance(called, ir.Function):
                    raise refused(op, f"there is no function {callee}")
                return builder.call(called, operands)
            case cf.BranchOp(successor=target):
                self.give(target, operands, builder)
                builder.branch(self.blocks[target].block)
            case cf.ConditionalBranchOp():
                self.cond_branch(op, builder, operands)
            case _ if type(op) in MEMORY:
                return MEMORY[type(op)](op, builder, operands)
            case _:
                return emit_scalar(op, builder, operands)

    def cond_branch(
        self, op: cf.ConditionalBranchOp, builder: ir.IRBuilder, operands: Sequence[ir.Value]
    ) -> None:
        count = len(op.then_arguments)
        condition, then, other = operands[0], operands[1 : count + 1], operands[count + 1 :]
        if op.then_block is op.else_block:  # a phi has one value for each block that comes before
            pairs = zip(then, other, strict=True)
            self.give(op.then_block, [builder.select(condition, a, b) for a, b in pairs], builder)
            builder.branch(self.blocks[op.then_block].block)
            return
        self.give(op.then_block, then, builder)
        self.give(op.else_block, other, builder)
        targets = (self.blocks[block].block for block in (op.then_block, op.else_block))
        builder.cbranch(condition, *targets)

    def give(self, target: Block, values: Sequence[ir.Value], builder: ir.IRBuilder) -> None:
        """Tell the phi nodes of a block what they are when control comes from here."""
        for argument, value in zip(target.args, values, strict=True):
            cast(ir.PhiInstr, self.values[argument]).add_incoming(value, builder.block)
