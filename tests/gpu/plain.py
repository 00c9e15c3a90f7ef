"""A plain interpreter of PTX, the outside witness of course_lib.gpu: one thread after the other.

    plain.launch(entry, grid=(2,), block=(32,), arguments=[x])   ->   [bytes of x]

Every thread is a generator that runs alone, one instruction after the other, with Python's numbers
in its registers. It stops where it needs the others: at barriers, shuffles and votes. Only the
reader of the text is the course's own. Slow and obvious; it is right where programs are free of
races and where warps do not part at a shuffle.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from course_lib.gpu.ptx.parts import (
    Address,
    Entry,
    Instruction,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)

from . import plain_floats as floats
from .plain_meaning import compute, width, wrapped

Three = tuple[int, int, int]
Asked = tuple[str, Instruction, Any]  # why a thread stops, where, and what it tells the others
SEGMENT = 1 << 40  # addresses of arrays: the n-th begins at n segments
ALIGN = 16


@dataclass
class Block:
    """What the threads of a block share: arrays by number, shared bytes, places of variables."""

    entry: Entry
    arrays: dict[int, bytearray]
    parameters: dict[str, bytes]
    places: dict[str, int]
    shared: bytearray
    local: int
    sizes: dict[str, Three]


def launch(entry: Entry, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]
           ) -> list[bytes | None]:  # fmt: skip
    """Run all blocks, one after the other; what the arguments that are arrays hold then."""
    arrays: dict[int, bytearray] = {}
    parameters: dict[str, bytes] = {}
    for k, (parameter, argument) in enumerate(zip(entry.parameters, arguments, strict=True), 1):
        if isinstance(argument, np.ndarray):
            arrays[k] = bytearray(argument.tobytes())
            parameters[parameter.name] = (k * SEGMENT).to_bytes(8, "little")
        else:
            parameters[parameter.name] = argument.tobytes()
    places, sizes = {}, {"shared": 0, "local": 0}
    for v in entry.variables:
        at = places[v.name] = -(-sizes[v.space] // ALIGN) * ALIGN
        sizes[v.space] = at + (v.nbytes or 0)
    shape = {"ntid": three(block), "nctaid": three(grid)}
    for ctaid in positions(three(grid)):
        shared = bytearray(sizes["shared"])
        run_block(Block(entry, arrays, parameters, places, shared, sizes["local"],
                        shape | {"ctaid": ctaid}))  # fmt: skip
    return [bytes(arrays[k]) if k in arrays else None for k in range(1, len(arguments) + 1)]


def three(sizes: Sequence[int]) -> Three:
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def positions(sizes: Three) -> list[Three]:
    """All places of a grid; x runs fastest."""
    return [(x, y, z) for z, y, x in product(*(range(n) for n in reversed(sizes)))]


def run_block(block: Block) -> None:
    threads = [Thread(block, k, tid) for k, tid in enumerate(positions(block.sizes["ntid"]))]
    running = [(thread, thread.run()) for thread in threads]
    asked = {t.number: next(steps, None) for t, steps in running}
    while any(asked.values()):
        answers = answer(asked)
        for thread, steps in running:
            if thread.number in answers:
                try:
                    asked[thread.number] = steps.send(answers[thread.number])
                except StopIteration:
                    asked[thread.number] = None


def answer(asked: dict[int, Asked | None]) -> dict[int, Any]:
    """What the threads that can go on are told: the warps that stand at a shuffle or a vote; if
    there are none, all stand at a barrier."""
    told: dict[int, Any] = {}
    for first in range(0, len(asked), 32):
        warp = {n: a for n in range(first, first + 32) if (a := asked.get(n)) is not None}
        stops = {id(a[1]) for a in warp.values()}
        if warp and all(a[0] == "warp" for a in warp.values()):
            assert len(stops) == 1, "the warp is not together"
            told |= exchanged({n - first: a for n, a in warp.items()}, first)
    if told:
        return told
    waiting = {n: a for n, a in asked.items() if a is not None}
    assert all(a[0] == "barrier" for a in waiting.values())
    return dict.fromkeys(waiting)


def exchanged(lanes: dict[int, Asked], first: int) -> dict[int, Any]:
    i = next(iter(lanes.values()))[1]
    given = {lane: a[2] for lane, a in lanes.items()}
    if i.name == "shfl":
        return {first + lane: shuffled(i, lane, given) for lane in given}
    taking = {lane: value for lane, (takes, value) in given.items() if takes}
    ballot = sum(1 << lane for lane, value in taking.items() if value)
    vote = {
        "ballot": ballot, "all": all(taking.values()), "any": any(taking.values()),
        "uni": len(set(taking.values())) <= 1,
    }[i.one_of("ballot", "all", "any", "uni")]  # fmt: skip
    return {first + lane: vote for lane in given}


def shuffled(i: Instruction, lane: int, given: dict[int, Any]) -> tuple[int, bool]:
    """The manual's own steps. Each lane gives its value, b and c."""
    _, b, c = given[lane]
    b, limit, segment = b & 31, c & 31, c >> 8 & 31
    most, least = (lane & segment) | (limit & ~segment), lane & segment
    how = i.one_of("up", "down", "bfly", "idx")
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": least | (b & ~segment)}[how]
    inside = j >= most if how == "up" else j <= most
    return given[j if inside else lane][0], inside


class Thread:
    """One thread: its registers hold bits, as whole numbers."""

    def __init__(self, block: Block, number: int, tid: Three) -> None:
        self.block, self.number = block, number
        self.registers: dict[str, int] = {}
        self.local = bytearray(block.local)
        self.known = {
            f"%{name}.{axis}": place[k]
            for name, place in (block.sizes | {"tid": tid}).items()
            for k, axis in enumerate("xyz")
        } | {"%laneid": number % 32, "%warpid": number // 32}

    def run(self) -> Generator[Asked, Any, None]:
        at, entry = 0, self.block.entry
        while True:
            i = entry.instructions[at]
            at += 1
            holds = i.guard is None or self.read(i.guard, "pred")
            if i.name in ("shfl", "vote"):  # every lane comes by; its guard says if it takes part
                yield from self.ask(i, holds)
            elif not holds:
                continue
            elif i.name == "bra":
                at = entry.labels[str(i.operands[0])]
            elif i.name in ("ret", "exit"):
                return
            elif i.name in ("bar", "barrier"):
                if not i.has("warp"):
                    yield "barrier", i, None
            else:
                self.do(i)

    def ask(self, i: Instruction, holds: bool) -> Generator[Asked, Any, None]:
        if i.name == "shfl":
            told = yield "warp", i, [self.read(o, "u32") for o in i.operands[1:4]]
            target = i.operands[0]
            if holds and isinstance(target, Pair):
                self.write(target.first, "b32", told[0])
                self.write(target.second, "pred", told[1])
            elif holds:
                self.write(target, "b32", told[0])
        else:
            told = yield "warp", i, (holds, self.read(i.operands[1], "pred"))
            if holds:
                self.write(i.operands[0], "b32" if i.has("ballot") else "pred", told)

    def do(self, i: Instruction) -> None:
        if i.name == "ld":
            self.load(i)
        elif i.name == "st":
            self.store(i)
        elif i.name in ("atom", "red"):
            self.atomic(i)
        elif i.name == "mov" and any(isinstance(o, Vector) for o in i.operands):
            self.pack(i)
        else:
            type, value = compute(i, lambda k, type: self.read(i.operands[k], type))
            target = i.operands[0]
            if isinstance(target, Pair):
                self.write(target.first, type, value)
                self.write(target.second, type, not value)
            else:
                self.write(target, type, value)

    # ── registers ──

    def read(self, operand: Any, type: str) -> Any:
        """An operand as a number of this type."""
        if isinstance(operand, Register):
            pattern = self.registers.get(operand.name, 0)
            if type == "pred":
                return bool(pattern) != operand.negated
        elif isinstance(operand, float):
            real = type if type in floats.FORMATS else f"f{width(type)}"
            pattern = floats.bits(operand, real)
        elif isinstance(operand, Special):
            pattern = self.known[operand.name]
        elif isinstance(operand, Symbol):
            pattern = self.block.places[operand.name]
        else:
            pattern = operand
        if type in floats.FORMATS:
            return floats.value(pattern & ((1 << width(type)) - 1), type)
        return wrapped(pattern, type)

    def write(self, target: Any, type: str, value: Any) -> None:
        """A register that is wider gets the sign, or zeros."""
        if isinstance(target, Symbol):  # _: nobody wants it
            return
        if type in floats.FORMATS:
            value = floats.bits(value, type)
        value = wrapped(int(value), type)
        self.registers[target.name] = value & ((1 << target.type.bits) - 1)

    def pack(self, i: Instruction) -> None:
        target, source = i.operands
        type = i.types[0].name
        if isinstance(source, Vector):
            each = width(type) // len(source.parts)
            parts = [self.read(p, f"u{each}") << (k * each) for k, p in enumerate(source.parts)]
            self.write(target, type, sum(parts))
        elif isinstance(target, Vector):
            each, whole = width(type) // len(target.parts), self.read(source, f"u{width(type)}")
            for k, part in enumerate(target.parts):
                self.write(part, f"b{each}", whole >> (k * each))

    # ── memory ──

    def at(self, i: Instruction, operand: Any) -> tuple[Any, int]:
        """The bytes that an address means, and where in them."""
        assert isinstance(operand, Address)
        base = operand.base
        if i.has("param"):
            return self.block.parameters[str(base)], operand.offset
        wide = isinstance(base, Register) and base.type.bits == 64
        start = 0 if base is None else self.read(base, "u64" if wide else "u32")
        address = start + operand.offset
        if i.has("shared"):
            return self.block.shared, address
        if i.has("local"):
            return self.local, address
        return self.block.arrays[address // SEGMENT], address % SEGMENT

    def load(self, i: Instruction) -> None:
        type, target = i.types[-1].name, i.operands[0]
        memory, at = self.at(i, i.operands[1])
        size = width(type) // 8
        parts = target.parts if isinstance(target, Vector) else (target,)
        whole = memory[at : at + size * len(parts)]
        assert len(whole) == size * len(parts) and at % len(whole) == 0
        for k, part in enumerate(parts):
            pattern = int.from_bytes(whole[k * size : (k + 1) * size], "little")
            self.write(part, f"b{8 * size}" if type[0] == "f" else type, pattern)

    def store(self, i: Instruction) -> None:
        type, source = i.types[-1].name, i.operands[1]
        memory, at = self.at(i, i.operands[0])
        parts = source.parts if isinstance(source, Vector) else (source,)
        data = b"".join(self.read(p, f"u{width(type)}").to_bytes(width(type) // 8, "little")
                        for p in parts)  # fmt: skip
        assert at + len(data) <= len(memory) and at % len(data) == 0
        memory[at : at + len(data)] = data

    def atomic(self, i: Instruction) -> None:
        type = i.types[-1].name
        operands = i.operands[1:] if i.name == "atom" else i.operands
        memory, at = self.at(i, operands[0])
        size, how = width(type) // 8, i.words[-2]
        old = wrapped(int.from_bytes(memory[at : at + size], "little"), type)
        x = self.read(operands[1], type)
        new = {
            "add": lambda: old + x, "min": lambda: min(old, x), "max": lambda: max(old, x),
            "and": lambda: old & x, "or": lambda: old | x, "xor": lambda: old ^ x,
            "exch": lambda: x, "inc": lambda: 0 if old >= x else old + 1,
            "dec": lambda: x if old == 0 or old > x else old - 1,
            "cas": lambda: self.read(operands[2], type) if old == x else old,
        }[how]()  # fmt: skip
        memory[at : at + size] = (new & ((1 << width(type)) - 1)).to_bytes(size, "little")
        if i.name == "atom":
            self.write(i.operands[0], type, old)
