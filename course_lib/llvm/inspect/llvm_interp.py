"""LLVM IR run instruction by instruction: what a function computes, and what it does for it.

    run = execute(text, x, y, 512)
    run.value, run.blocks["loop"], run.multiply_adds, run.chain

It knows what scalar code is made of: integers, `float` and `double`, pointers into the arrays that
are given, phi, branches, and `llvm.fma`. Everything else is refused with its line, above all
vectors and memory that the function reserves. LLVM's own text is the input, but LLVM is not asked:
a text of unknown origin can neither crash this process nor reach its memory. Floats are rounded to
their type after each instruction; a fused multiply-add is computed in double. Next room:
`control/view.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.llvm.inspect.layout import layout
from course_lib.llvm.inspect.listing import Block, Line, body_of

STEPS = 2_000_000  # executed instructions at most
APART = 1 << 40  # bytes between the addresses of two arrays, as integers
KINDS: dict[str, type] = {"float": np.float32, "double": np.float64}
SIGNS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "ord": lambda a, b: True, "uno": lambda a, b: False,
}  # fmt: skip
INTEGER = {
    "add": lambda a, b, bits: a + b, "sub": lambda a, b, bits: a - b,
    "mul": lambda a, b, bits: a * b, "and": lambda a, b, bits: a & b,
    "or": lambda a, b, bits: a | b, "shl": lambda a, b, bits: a << min(b, bits),
    "lshr": lambda a, b, bits: a >> min(b, bits), "xor": lambda a, b, bits: a ^ b,
    "udiv": lambda a, b, bits: a // b, "urem": lambda a, b, bits: a % b,
}  # fmt: skip
SIGNED = {
    "ashr": lambda a, b: a >> b if b >= 0 else 0,
    "sdiv": lambda a, b: a // b if (a < 0) == (b < 0) else -(-a // b),
    "srem": lambda a, b: (abs(a) % abs(b)) * (-1 if a < 0 else 1),
}
FLOAT = {
    "fadd": lambda a, b: a + b, "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b, "fdiv": lambda a, b: a / b,
}  # fmt: skip
CASTS = ("sext", "zext", "trunc", "fpext", "fptrunc", "sitofp", "uitofp", "fptosi", "fptoui",
         "ptrtoint", "inttoptr")  # fmt: skip


@dataclass(frozen=True)
class Pointer:
    """Some bytes into one of the arrays, which are numbered."""

    array: int
    offset: int


@dataclass(frozen=True)
class Execution:
    """What a call did.

    value          the result, None of a void function
    blocks         how often each block ran
    multiply_adds  calls of `llvm.fma` and `llvm.fmuladd`
    products, sums  other multiplications, additions and subtractions of floats
    loads, stores   of floats
    chain          the longest row of float operations of which each needs the one before it;
                   negations, conversions and comparisons are none
    """

    value: Any
    blocks: Counter[str]
    multiply_adds: int
    products: int
    sums: int
    loads: int
    stores: int
    chain: int


def execute(text: str, *arguments: Any, steps: int = STEPS) -> Execution:
    """Call the only function of a text with arrays (for pointers) and numbers.

    Stores change the arrays. ValueError, with the line, for what is not known here, for a value
    that is used before it exists, an access outside of an array, and too many steps.
    """
    parameters, blocks = body_of(text)
    if len(parameters) != len(arguments):
        wanted = ", ".join(name for _, name in parameters)
        raise ValueError(f"the function takes {wanted}: {len(arguments)} arguments were given")
    return _Run(parameters, blocks, arguments, steps).call()


@dataclass
class _Run:
    parameters: Sequence[tuple[str, str]]
    blocks: dict[str, Block]
    arguments: Sequence[Any]
    steps: int
    values: dict[str, Any] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    depth: dict[str, int] = field(default_factory=dict)  # of the row of operations behind a value
    stored: dict[tuple[int, int], int] = field(default_factory=dict)  # the same, of memory
    ran: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    longest: int = 0

    def call(self) -> Execution:
        for number, ((kind, name), given) in enumerate(
            zip(self.parameters, self.arguments, strict=True)
        ):
            self.values[name] = Pointer(number, 0) if kind == "ptr" else _number(given, kind)
            self.types[name] = kind
        before, here = "", next(iter(self.blocks))
        with np.errstate(all="ignore"):
            while True:
                self.ran[here] += 1
                after = self.block(self.blocks[here], before)
                if not isinstance(after, str):
                    break
                before, here = here, after
        done = self.done
        return Execution(after[0], self.ran, done["fma"], done["fmul"], done["sum"],
                         done["load"], done["store"], self.longest)  # fmt: skip

    def block(self, block: Block, before: str) -> Any:
        """Where the block goes to, or (the result,)."""
        phis = [line for line in block if line.opcode == "phi"]
        incoming = [(line, self.chosen(line, before)) for line in phis]  # all at the same time
        for line, source in incoming:
            self.assign(line, self.read(line, source, line.type), self.depth.get(source, 0))
        for line in block[len(phis) :]:
            self.steps -= 1
            if self.steps < 0:
                raise line.error("the function does not come to an end")
            if line.opcode == "ret":
                return (None if line.type == "void" else self.read(line, line.parts[0], line.type),)
            if line.opcode in ("br", "switch"):
                goes = self.goes_to(line)
                if goes not in self.blocks:
                    raise line.error(f"there is no block %{goes}")
                return goes
            self.instruction(line)
        raise block[-1].error("a block must end with br or ret")

    def goes_to(self, line: Line) -> str:
        first, *rest = line.parts
        if line.opcode == "br":
            return rest[0 if self.read(line, first, "i1") else 1] if rest else first
        value = self.read(line, first, line.type)
        for case, block in zip(rest[1::2], rest[2::2], strict=True):
            if self.read(line, case, line.type) == value:
                return block
        return rest[0]

    def chosen(self, line: Line, before: str) -> str:
        for value, block in zip(line.parts[::2], line.parts[1::2], strict=True):
            if block == before:
                return value
        raise line.error(f"the phi has no value for the way from %{before or 'nowhere'}")

    def instruction(self, line: Line) -> None:
        operands, kind = line.parts, line.type
        depth = max((self.depth.get(o, 0) for o in operands), default=0)
        if line.opcode in FLOAT:
            a, b = (self.read(line, o, kind) for o in operands)
            self.done["sum" if line.opcode in ("fadd", "fsub") else line.opcode] += 1
            self.assign(line, FLOAT[line.opcode](a, b), depth + 1)
        elif line.opcode == "fma":
            a, b, c = (self.read(line, o, kind) for o in operands)
            self.done[line.opcode] += 1
            self.assign(line, float(a) * float(b) + float(c), depth + 1)
        elif line.opcode == "fneg":
            self.assign(line, -self.read(line, operands[0], kind), depth)
        elif line.opcode == "freeze":
            self.assign(line, self.read(line, operands[0], kind), depth)
        elif line.opcode in INTEGER or line.opcode in SIGNED:
            self.assign(line, self.integer(line, operands), depth)
        elif line.opcode in ("icmp", "fcmp"):
            self.assign(line, int(self.compared(line, operands)), depth)
        elif line.opcode == "select":
            condition, *choices = operands
            chosen = choices[0 if self.read(line, condition, "i1") else 1]
            self.assign(line, self.read(line, chosen, kind), depth)
        elif line.opcode in CASTS:
            self.assign(line, self.cast(line, operands[0]), depth)
        elif line.opcode == "getelementptr":
            self.assign(line, self.address(line), depth)
        else:
            self.access(line, operands)

    def access(self, line: Line, operands: Sequence[str]) -> None:
        """A load or a store, which hands on the row of operations behind a value."""
        self.done[line.opcode] += 1
        pointer = operands[0 if line.opcode == "load" else 1]
        array, place = self.element(line, pointer)
        key = (self.values[pointer].array, place)
        if line.opcode == "load":
            self.assign(line, array[place], self.stored.get(key, 0))
        else:
            array[place] = self.read(line, operands[0], line.type)
            self.stored[key] = self.depth.get(operands[0], 0)

    def integer(self, line: Line, operands: Sequence[str]) -> int:
        a, b = (self.read(line, o, line.type) for o in operands)
        if line.opcode[1:] in ("div", "rem") and not b:
            raise line.error("a division by zero")
        if line.opcode in INTEGER:
            return INTEGER[line.opcode](a, b, int(line.type[1:]))
        return SIGNED[line.opcode](_signed(a, line.type), _signed(b, line.type))

    def compared(self, line: Line, operands: Sequence[str]) -> bool:
        """`slt` compares as numbers with a sign, `ult` as numbers without; `eq` has no letter."""
        a, b = (self.read(line, o, line.type) for o in operands)
        if isinstance(a, Pointer):
            a, b = _address(a), _address(b)
        elif line.opcode == "fcmp" and (np.isnan(a) or np.isnan(b)):
            return line.extra[0] == "u"
        elif line.extra.startswith("s"):
            a, b = _signed(a, line.type), _signed(b, line.type)
        how = line.extra if line.extra in SIGNS else line.extra[-2:]
        return SIGNS[how](a, b)

    def cast(self, line: Line, operand: str) -> Any:
        """Between types of numbers, and between a pointer and its address."""
        value = self.read(line, operand, line.extra)
        if line.opcode in ("sext", "sitofp"):
            value = _signed(value, line.extra)
        elif line.opcode in ("fptosi", "fptoui"):
            if not np.isfinite(value):
                raise line.error(f"{value} is no integer")
            value = int(value)
        elif line.opcode == "ptrtoint":
            value = _address(value)
        elif line.opcode == "inttoptr":
            number, offset = divmod(value + APART // 2, APART)
            if not 1 <= number <= len(self.arguments):
                raise line.error(f"{value} is the address of nothing")
            value = Pointer(number - 1, offset - APART // 2)
        return value

    def address(self, line: Line) -> Pointer:
        """Whole elements by the first index, then into a part of one by each other."""
        base, *rest = line.parts
        pointer = self.read(line, base, "ptr")
        indices = [_signed(self.read(line, index, kind), kind)
                   for index, kind in zip(rest, line.extra.split(), strict=True)]  # fmt: skip
        at = layout(line.type)
        offset = pointer.offset + indices[0] * at.size
        for index in indices[1:]:
            try:
                step, at = at.part(index)
            except ValueError as error:
                raise line.error(str(error)) from None
            offset += step
        return Pointer(pointer.array, offset)

    def element(self, line: Line, pointer: str) -> tuple[np.ndarray, int]:
        at = self.read(line, pointer, "ptr")
        array = self.arguments[at.array]
        name = self.parameters[at.array][1]
        if array.dtype != KINDS[line.type]:
            raise line.error(f"{name} holds {array.dtype}, the access is to {line.type}")
        place, rest = divmod(at.offset, array.itemsize)
        if rest or not 0 <= place < array.size:
            raise line.error(f"byte {at.offset} of {name}, which has {array.nbytes}")
        return array, place

    def read(self, line: Line, operand: str, kind: str) -> Any:
        """A value by its name, or a constant."""
        if not operand.startswith("%"):
            try:
                return _number(operand, kind)
            except ValueError:
                raise line.error(f"{operand} is no {kind} that is known here") from None
        if operand not in self.values:
            raise line.error(f"{operand} has no value yet")
        if self.types[operand] != kind:
            raise line.error(f"{operand} is of type {self.types[operand]}, not {kind}")
        return self.values[operand]

    def assign(self, line: Line, value: Any, depth: int) -> None:
        kind = "i1" if line.opcode in ("icmp", "fcmp") else line.result_type
        self.values[line.result] = value if isinstance(value, Pointer) else _number(value, kind)
        self.types[line.result] = "ptr" if isinstance(value, Pointer) else kind
        self.depth[line.result] = depth
        self.longest = max(self.longest, depth)


def _number(value: Any, kind: str) -> Any:
    """A number as its type holds it: integers as their bits."""
    if kind in KINDS:
        if isinstance(value, str) and re.fullmatch(r"0x[0-9A-Fa-f]{16}", value):
            value = np.array([int(value, 16)], np.uint64).view(np.float64)[0]
        return KINDS[kind](float(value))
    if value in ("true", "false"):
        value = value == "true"
    return int(value) % (1 << int(kind[1:]))


def _address(pointer: Pointer) -> int:
    """As an integer: the arrays lie far apart, and none at 0."""
    return (pointer.array + 1) * APART + pointer.offset


def _signed(value: int, kind: str) -> int:
    bits = int(kind[1:])
    return value - (1 << bits) if value >> (bits - 1) & 1 else value
