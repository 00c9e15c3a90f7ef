"""Integers that are known before anything runs, and the branches that they decide.

    %n = sub i64 %hi, %lo            with lo = 0 and hi = 20:    20
    %few = icmp ult i64 %n, 8                                    0, so the branch goes one way only

A number is its bits, as in LLVM: 8 bits of -1 are 255. What changes from turn to turn of a loop is
not known here, nor what is read from memory. Source: Wegman and Zadeck, "Constant propagation with
conditional branches", TOPLAS 1991, without their optimism about loops. Next room: `trips.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from course_lib.llvm.inspect.control.order import Edge, Order
from course_lib.llvm.inspect.control.view import (
    Argument,
    Function,
    Instruction,
    Number,
    Operand,
    Other,
)

WIDEST = 64  # bits

SIGNS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def signed(number: int, bits: int) -> int:
    """The bits as a number in two's complement."""
    return number - (1 << bits) if number >> (bits - 1) & 1 else number


def holds(predicate: str, a: int, b: int, bits: int) -> bool:
    """icmp: `slt` and its like read the bits with a sign, `ult` and its like without."""
    if predicate.startswith("s"):
        a, b = signed(a, bits), signed(b, bits)
    return SIGNS[predicate[-2:]](a, b)


class Numbers:
    """What is known of a function's integers when some of its arguments are given.

    alive  edges that may be taken: they can be reached, and no branch is decided against them
    """

    def __init__(self, function: Function, order: Order, given: Mapping[str, int]) -> None:
        self.function, self.given = function, given
        self.headers = {loop.header for loop in order.loops}
        self.alive: set[Edge] = set()
        self._known: dict[Instruction, int | None] = {}
        reached = {0}
        for block in order.order:  # all that leads to a block is decided before it, or leads back
            if block in reached:
                goes = self._goes(block)
                self.alive |= {(block, b) for b in goes}
                reached.update(goes)

    def _goes(self, block: int) -> tuple[int, ...]:
        """Where the end of a block may lead."""
        end = self.function.blocks[block]
        successors, last = end.successors, end.instructions[-1]
        if last.opcode == "br" and len(successors) == 2:
            condition = self.of(last.operands[0])
            if condition is not None:
                return successors[:1] if condition else successors[1:]
        return successors

    def of(self, value: Operand) -> int | None:
        """The number that a value is, each time that it is computed; None if that is not known."""
        match value:
            case Number(number, bits) if bits <= WIDEST:
                return number
            case Argument(name, bits) if name in self.given and 0 < bits <= WIDEST:
                return self.given[name] % (1 << bits)
            case Instruction():
                if value not in self._known:
                    self._known[value] = self._compute(value)
                return self._known[value]
        return None

    def _compute(self, value: Instruction) -> int | None:
        if not 0 < value.bits <= WIDEST:
            return None
        if value.opcode == "phi":
            return self._merged(value)
        if value.opcode == "select":
            condition, *choices = value.operands
            chosen = self.of(condition)
            return None if chosen is None else self.of(choices[0 if chosen else 1])
        rule, operands = _rule(value)
        numbers = [n for n in map(self.of, operands) if n is not None]
        if rule is None or len(numbers) < len(operands):
            return None
        result = rule(*numbers, width(value.operands))
        return None if result is None else result % (1 << value.bits)

    def _merged(self, phi: Instruction) -> int | None:
        """The same number on all ways that are taken; a loop may bring another one each time."""
        if phi.block in self.headers:
            return None
        ways = zip(phi.incoming, phi.operands, strict=True)
        values = {self.of(o) for block, o in ways if (block, phi.block) in self.alive}
        return values.pop() if len(values) == 1 else None


def _rule(value: Instruction) -> tuple[Callable[..., int | None] | None, tuple[Operand, ...]]:
    """How an instruction computes its result, and from what."""
    if value.opcode == "icmp":
        sign = predicate(value)
        return (lambda a, b, bits: int(holds(sign, a, b, bits))), value.operands
    if value.opcode == "call" and isinstance(value.operands[-1], Other):
        return RULES.get(value.operands[-1].name.rpartition(".")[0]), value.operands[:-1]
    return RULES.get(value.opcode), value.operands


def predicate(compare: Instruction) -> str:
    """`slt` of `icmp samesign slt i64 %a, %b`."""
    return next(w for w in compare.words if w[-2:] in SIGNS and len(w) <= 3)


def width(operands: tuple[Operand, ...]) -> int:
    """The bits of the first operand."""
    first = operands[0]
    return first.bits if isinstance(first, (Instruction, Number, Argument)) else 0


def _shift(by: Callable[[int, int, int], int]) -> Callable[[int, int, int], int | None]:
    return lambda a, b, bits: by(a, b, bits) if b < bits else None


def _divide(by: Callable[[int, int], int]) -> Callable[[int, int, int], int | None]:
    """Rounded toward zero; nothing divides by 0, nor the smallest number by -1."""

    def rule(a: int, b: int, bits: int) -> int | None:
        return None if b == 0 else by(a, b)

    return rule


def _signed_divide(remainder: bool) -> Callable[[int, int, int], int | None]:
    def rule(a: int, b: int, bits: int) -> int | None:
        x, y = signed(a, bits), signed(b, bits)
        if y == 0 or (y == -1 and a == 1 << (bits - 1)):
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return x - quotient * y if remainder else quotient

    return rule


def _choose(sign: str) -> Callable[[int, int, int], int]:
    return lambda a, b, bits: a if holds(sign, a, b, bits) else b


# opcode or intrinsic -> (operands..., their bits) -> the result, not yet cut to its bits
RULES: dict[str, Callable[..., int | None]] = {
    "add": lambda a, b, bits: a + b,
    "sub": lambda a, b, bits: a - b,
    "mul": lambda a, b, bits: a * b,
    "and": lambda a, b, bits: a & b,
    "or": lambda a, b, bits: a | b,
    "xor": lambda a, b, bits: a ^ b,
    "shl": _shift(lambda a, b, bits: a << b),
    "lshr": _shift(lambda a, b, bits: a >> b),
    "ashr": _shift(lambda a, b, bits: signed(a, bits) >> b),
    "udiv": _divide(operator.floordiv),
    "urem": _divide(operator.mod),
    "sdiv": _signed_divide(remainder=False),
    "srem": _signed_divide(remainder=True),
    "trunc": lambda a, bits: a,
    "zext": lambda a, bits: a,
    "sext": lambda a, bits: signed(a, bits),
    "freeze": lambda a, bits: a,
    "llvm.smax": _choose("sgt"),
    "llvm.smin": _choose("slt"),
    "llvm.umax": _choose("ugt"),
    "llvm.umin": _choose("ult"),
}
