"""How often a loop turns: its counter begins at a number, moves by a number, and stops at one.

    %i = phi i64 [0, %entry], [%next, %loop]
    %next = add i64 %i, 4
    %more = icmp slt i64 %next, 100              25 turns

Where one of the three is not a number, nothing is said. LLVM's own answer to the question is its
scalar evolution, which knows more kinds of counters. Source: Bachmann, Wang and Zima, "Chains of
recurrences", ISSAC 1994, of which this is the first link. Next room: `balance.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from course_lib.llvm.inspect.control.numbers import Numbers, holds, predicate, signed, width
from course_lib.llvm.inspect.control.order import NaturalLoop, Order
from course_lib.llvm.inspect.control.view import Function, Instruction, Operand

MOST = (1 << 63) - 1  # larger counts are not told
SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


class Trips(NamedTuple):
    """How often the header runs each time that the loop is entered, or why that is not known.

    `leaves` is the only edge on which the loop is left.
    """

    count: int | None
    why: str = ""
    leaves: tuple[int, int] | None = None


class Line(NamedTuple):
    """start, start + step, start + 2 step, ...: one number for each turn of a loop."""

    start: int
    step: int


def trips(loop: NaturalLoop, function: Function, order: Order, numbers: Numbers) -> Trips:
    """How often a loop turns, if its structure says it."""
    ways_out = [
        (u, v)
        for u, v in order.edges
        if u in loop.blocks and v not in loop.blocks and (u, v) in numbers.alive
    ]
    if len(ways_out) != 1:
        return Trips(None, f"the loop has {len(ways_out)} ways out")
    ((block, outside),) = ways_out
    always = all(order.dominates(block, latch) for latch in loop.latches)
    if order.innermost[block] is not loop or not always:
        return Trips(None, "a turn of the loop may pass its way out by")
    if all(
        (block, b) not in numbers.alive for b in function.blocks[block].successors if b != outside
    ):
        return Trips(1, "", ways_out[0])
    last = function.blocks[block].instructions[-1]
    test = last.operands[0] if last.opcode == "br" and last.operands else None
    leaves = outside == function.blocks[block].successors[0]  # if the test is true
    if not isinstance(test, Instruction) or test.opcode not in ("icmp", "phi"):
        return Trips(None, "the loop does not end by comparing integers")
    turns = (_compared if test.opcode == "icmp" else _told)(test, leaves, loop, numbers)
    if turns is None or turns >= MOST:
        return Trips(None, "what the loop counts does not begin, move and end by numbers")
    return Trips(turns + 1, "", ways_out[0])


def _compared(test: Instruction, leaves: bool, loop: NaturalLoop, numbers: Numbers) -> int | None:
    """After how many turns a comparison comes out so that the loop is left, for the first time."""
    bits, sign = width(test.operands), predicate(test)
    a, b = (_line(o, loop, numbers) for o in test.operands)
    if a is None or b is None:
        return None
    if a.step == 0:
        a, b, sign = b, a, sign[:-2] + SWAPPED[sign[-2:]]
    sign = sign if leaves else sign[:-2] + OPPOSITE[sign[-2:]]
    return first(sign, a, b.start, bits) if b.step == 0 else None


def _told(test: Instruction, leaves: bool, loop: NaturalLoop, numbers: Numbers) -> int | None:
    """The same where the turn before says it: `phi i1 [true, %entry], [false, %loop]`, two turns,
    is what LLVM makes of a counter that is 0 and then 1."""
    if test.block != loop.header:
        return None
    begin, ways = _entered(test, loop, numbers)
    later = {numbers.of(o) for o in ways}
    if begin is None or begin == leaves:
        return None if begin is None else 0
    return 1 if later == {int(leaves)} else None


def _line(value: Operand, loop: NaturalLoop, numbers: Numbers) -> Line | None:
    """A value of a loop as a line, both of its numbers cut to the bits of the value."""
    number = numbers.of(value)
    if number is not None:
        return Line(number, 0)
    if not isinstance(value, Instruction) or value.block not in loop.blocks:
        return None
    line, opcode = None, value.opcode
    if opcode == "or" and "disjoint" in value.words:
        opcode = "add"  # no bit is set in both
    if opcode == "phi":
        line = _counter(value, loop, numbers)
    elif opcode in ("add", "sub", "mul"):
        a, b = (_line(o, loop, numbers) for o in value.operands)
        line = None if a is None or b is None else _combined(opcode, a, b)
    every = 1 << value.bits
    return None if line is None else Line(line.start % every, line.step % every)


def _combined(opcode: str, a: Line, b: Line) -> Line | None:
    match opcode:
        case "add":
            return Line(a.start + b.start, a.step + b.step)
        case "sub":
            return Line(a.start - b.start, a.step - b.step)
    if a.step and b.step:
        return None  # that would be a curve
    return Line(a.start * b.start, a.step * b.start + b.step * a.start)


def _counter(phi: Instruction, loop: NaturalLoop, numbers: Numbers) -> Line | None:
    """A phi of the header that gets the same number more in each turn."""
    if phi.block != loop.header:
        return None
    start, ways = _entered(phi, loop, numbers)
    steps = {_more(o, phi, numbers) for o in ways}
    step = steps.pop() if len(steps) == 1 else None
    return None if start is None or step is None else Line(start, step)


def _entered(
    phi: Instruction, loop: NaturalLoop, numbers: Numbers
) -> tuple[int | None, list[Operand]]:
    """The number that a phi of the header is at first, and what it is after each turn."""
    ways = list(zip(phi.incoming, phi.operands, strict=True))
    outside = [(b, o) for b, o in ways if b not in loop.blocks]
    starts = {numbers.of(o) for b, o in outside if (b, phi.block) in numbers.alive}
    start = starts.pop() if len(starts) == 1 else None
    return start, [o for b, o in ways if b in loop.blocks]


def _more(value: Operand, phi: Instruction, numbers: Numbers) -> int | None:
    """How much more than the phi a value is, if that is a number."""
    if value is phi:
        return 0
    if not isinstance(value, Instruction) or value.opcode not in ("add", "sub"):
        return None
    left, right = value.operands
    number, rest = numbers.of(right), left
    if number is None and value.opcode == "add":
        number, rest = numbers.of(left), right
    more = None if number is None else _more(rest, phi, numbers)
    if number is None or more is None:
        return None
    return more + number if value.opcode == "add" else more - number


def first(sign: str, line: Line, bound: int, bits: int) -> int | None:
    """The first turn in which a line stands so to a bound; None if never, or not before the
    counter runs over its last number.

    >>> first("sge", Line(0, 4), 100, 64), first("eq", Line(10, -1), 0, 8)
    (25, 10)
    """
    every = 1 << bits
    start, step, bound = line.start % every, signed(line.step % every, bits), bound % every
    if holds(sign, start, bound, bits):
        return 0
    if step == 0:
        return None
    if sign in ("eq", "ne"):
        return 1 if sign == "ne" else _meet(step % every, (bound - start) % every, bits)
    low, high = 0, every - 1
    if sign.startswith("s"):
        start, bound = signed(start, bits), signed(bound, bits)
        low, high = -every // 2, every // 2 - 1
    if (step > 0) != (sign[-2] == "g"):
        return None
    gap = abs(bound - start)
    turns = gap // abs(step) + 1 if sign[-1] == "t" else -(-gap // abs(step))
    return turns if low <= start + step * turns <= high else None


def _meet(step: int, gap: int, bits: int) -> int | None:
    """The smallest t with step * t = gap modulo 2**bits. The odd part of `step` can be undone."""
    twos = (step & -step).bit_length() - 1
    if gap & ((1 << twos) - 1):
        return None
    left = 1 << (bits - twos)
    return (gap >> twos) * pow(step >> twos, -1, left) % left if left > 1 else 0
