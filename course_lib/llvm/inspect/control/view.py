"""llvmlite's view of a function, as plain data: blocks, their instructions, and the ways between.

    entry:                                        Block("entry", successors=(1,))
      br label %loop                       ->
    loop:                                         Block("loop", successors=(1, 2))
      %i = phi i64 [0, %entry], [%next, %loop]      Instruction("phi", "i64", ...)

llvmlite knows the opcode, the type and the operands of an instruction. Its flags (`contract`) and
its predicate (`slt`) stand in its text alone. Next room: `order.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Union

import llvmlite.binding as llvm
from llvmlite.binding import ValueKind, ValueRef

_RESULT = re.compile(r'^\s*(?:%(?:"[^"]*"|\S+) = )?')


@dataclass(frozen=True)
class Number:
    """An integer constant, as its bits: 0 .. 2**bits - 1."""

    value: int
    bits: int


@dataclass(frozen=True)
class Argument:
    name: str
    bits: int


@dataclass(frozen=True)
class Other:
    """A constant that is no integer, a function, a block."""

    name: str


@dataclass(eq=False)
class Instruction:
    """`operands` of a branch are its condition only; `incoming` are the blocks of a phi's."""

    opcode: str
    type: str
    block: int
    value: ValueRef = field(repr=False)
    operands: tuple[Operand, ...] = ()
    incoming: tuple[int, ...] = ()

    @property
    def bits(self) -> int:
        """Of an integer; 0 for everything else."""
        return bits(self.type)

    @property
    def words(self) -> list[str]:
        """The text without its result: ["icmp", "slt", "i64", ...]."""
        return _RESULT.sub("", str(self.value)).split()


Operand = Union[Instruction, Number, Argument, Other]


@dataclass(frozen=True, eq=False)
class Block:
    """`successors` of a conditional branch: where it goes if true, then if false."""

    name: str
    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Function:
    """A function with a body. `uses` says how often each instruction is an operand."""

    name: str
    blocks: tuple[Block, ...]
    uses: Counter[Instruction]


def functions(module: llvm.ModuleRef) -> list[Function]:
    """The functions of a module that have a body, in its order."""
    return [_function(f) for f in module.functions if not f.is_declaration]


def bits(type: str) -> int:
    """The width of an integer type, else 0."""
    return int(type[1:]) if type[:1] == "i" and type[1:].isdigit() else 0


def _function(function: ValueRef) -> Function:
    blocks = list(function.blocks)
    number = {block: k for k, block in enumerate(blocks)}
    known: dict[ValueRef, Instruction] = {}
    bodies = [
        [_instruction(i, k, known) for i in block.instructions] for k, block in enumerate(blocks)
    ]
    uses: Counter[Instruction] = Counter()
    for instruction in known.values():
        operands = list(instruction.value.operands)
        if instruction.opcode == "phi":
            blocks_in = instruction.value.incoming_blocks
            instruction.incoming = tuple(number[block] for block in blocks_in)
        seen = tuple(_operand(o, known) for o in operands if o not in number)
        instruction.operands = seen
        uses.update(o for o in seen if isinstance(o, Instruction))
    shown = [
        Block(block.name, tuple(body), _successors(body[-1], number))
        for block, body in zip(blocks, bodies, strict=True)
    ]
    return Function(function.name, tuple(shown), uses)


def _instruction(value: ValueRef, block: int, known: dict[ValueRef, Instruction]) -> Instruction:
    known[value] = Instruction(value.opcode, str(value.type), block, value)
    return known[value]


def _operand(operand: ValueRef, known: dict[ValueRef, Instruction]) -> Operand:
    if operand in known:
        return known[operand]
    if operand.value_kind == ValueKind.constant_int:
        return Number(operand.get_constant_value(), bits(str(operand.type)))
    if operand.value_kind == ValueKind.argument:
        return Argument(operand.name, bits(str(operand.type)))
    return Other(operand.name)


def _successors(last: Instruction, number: dict[ValueRef, int]) -> tuple[int, ...]:
    """LLVM keeps the two ends of a conditional branch the other way round."""
    ends = [number[o] for o in last.value.operands if o in number]
    return tuple(reversed(ends) if last.opcode == "br" else ends)
