"""Programs in loops over memory, run one operation at a time: what they print, and what it takes.

    done = ran(text)      # of @main, as `to_affine` leaves it
    done.printed          ->   [array([ 9., 12., 15.])]
    done.loads, done.stores, done.nests

Memory is full of NaN until it is written, an index out of bounds is an error and not another
element, and a program ends after STEPS operations. So a text from anywhere may be run. Next room:
`printing.py`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import affine, arith, func, memref, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from course_lib.mlir.toy.functions import PrintOp
from course_lib.mlir.toy.module import read, verify

LONGEST = 60_000  # characters of a text
STEPS = 60_000
COMPUTED = {
    arith.AddfOp: lambda a, b: a + b,
    arith.SubfOp: lambda a, b: a - b,
    arith.MulfOp: lambda a, b: a * b,
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
}


@dataclass
class Ran:
    """What a program printed. `read` counts the loads of each buffer, by the SSA value of it."""

    printed: list[np.ndarray] = field(default_factory=list)
    read: Counter[SSAValue] = field(default_factory=Counter)
    stores: int = 0
    nests: int = 0  # loops that stand in no other
    buffers: int = 0
    freed: int = 0
    operations: int = 0  # in the text

    @property
    def loads(self) -> int:
        return sum(self.read.values())


def ran(text: str) -> Ran:
    """ValueError, in words, for what is no such program."""
    if len(text) > LONGEST:
        raise ValueError(f"the text has {len(text):,} characters; at most {LONGEST:,} are read")
    module = read(text)
    verify(module)
    mains = [op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main"]
    if len(mains) != 1 or len(mains[0].body.blocks) != 1 or mains[0].body.block.args:
        raise ValueError("there must be one function @main of one block, without parameters")
    machine = _Machine(
        {op.sym_name.data: _constant(op) for op in module.ops if isinstance(op, memref.GlobalOp)}
    )
    machine.done.operations = sum(1 for _ in mains[0].walk())
    machine.block(mains[0].body.block)
    return machine.done


def _constant(op: memref.GlobalOp) -> np.ndarray:
    value: Any = op.initial_value
    return np.array([*value.get_values()], float).reshape(value.type.get_shape())


class _Machine:
    def __init__(self, constants: dict[str, np.ndarray]) -> None:
        self.constants, self.done = constants, Ran()
        self.values: dict[SSAValue, Any] = {}
        self.steps = self.depth = 0

    def block(self, block: Block) -> list[Any]:
        """Run a block; the values that its last operation hands on."""
        for op in block.ops:
            self.steps += 1
            if self.steps > STEPS:
                raise ValueError(f"the program had not ended after {STEPS:,} operations")
            given = [self.values[v] for v in op.operands]
            if isinstance(op, (affine.YieldOp, scf.YieldOp, func.ReturnOp)):
                return given
            self.values.update(zip(op.results, self.operation(op, given), strict=True))
        return []

    def operation(self, op: Operation, given: list[Any]) -> list[Any]:
        match op:
            case affine.ForOp():
                return self.affine_loop(op, given)
            case scf.ForOp():
                low, high, step, *carried = given
                return self.loop(op.body.block, range(low, high, max(step, 1)), carried)
            case affine.ApplyOp(map=map):
                return [*self.mapped(map, given)]
            case affine.LoadOp(map=map):
                return [self.load(op.memref, given[0], self.mapped(map, given[1:]))]
            case affine.StoreOp(map=map):
                return self.store(given[0], given[1], self.mapped(map, given[2:]))
            case memref.LoadOp():
                return [self.load(op.memref, given[0], tuple(given[1:]))]
            case memref.StoreOp():
                return self.store(given[0], given[1], tuple(given[2:]))
            case memref.AllocOp() | memref.AllocaOp():
                self.done.buffers += 1
                return [np.full(op.memref.type.get_shape(), np.nan)]
            case memref.DeallocOp():
                self.done.freed += 1
                return []
            case memref.GetGlobalOp(name_=name):
                return [self.constants[name.root_reference.data]]
            case arith.ConstantOp(value=FloatAttr() | IntegerAttr() as number):
                return [number.value.data]
            case PrintOp():
                self.done.printed.append(given[0].copy())
                return []
        if type(op) not in COMPUTED:
            raise ValueError(f"{op.name} has no place in these loops:\n  {op}")
        return [COMPUTED[type(op)](*given)]

    def affine_loop(self, op: affine.ForOp, given: list[Any]) -> list[Any]:
        low, high = len(op.lowerBoundOperands), len(op.upperBoundOperands)
        first = self.mapped(op.lowerBoundMap, given[:low])[0]
        last = self.mapped(op.upperBoundMap, given[low : low + high])[0]
        turns = range(first, last, op.step.value.data)
        return self.loop(op.body.block, turns, given[low + high :])

    def loop(self, body: Block, turns: range, carried: list[Any]) -> list[Any]:
        self.done.nests += self.depth == 0
        self.depth += 1
        for turn in turns:
            self.values.update(zip(body.args, [turn, *carried], strict=True))
            carried = self.block(body)
        self.depth -= 1
        return carried

    def mapped(self, map: Any, given: list[Any]) -> tuple[int, ...]:
        count = map.data.num_dims
        return tuple(map.data.eval(given[:count], given[count:]))

    def load(self, buffer: SSAValue, array: np.ndarray, at: tuple[int, ...]) -> Any:
        self.done.read[buffer] += 1
        return array[_inside(array, at)]

    def store(self, value: Any, array: np.ndarray, at: tuple[int, ...]) -> list[Any]:
        self.done.stores += 1
        array[_inside(array, at)] = value
        return []


def _inside(array: np.ndarray, at: tuple[int, ...]) -> tuple[int, ...]:
    if len(at) != array.ndim or any(not 0 <= i < n for i, n in zip(at, array.shape, strict=True)):
        raise ValueError(f"the index {at} is outside of a buffer of shape {array.shape}")
    return at
