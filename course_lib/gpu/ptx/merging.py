"""Neighbouring loads of shared memory become one wider load, as ptxas makes of them.

    ld.shared.f32 %f1, [%r1];                ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];
    ld.shared.f32 %f2, [%r1+4];        ==>
    ld.shared.f32 %f3, [%r1+8];
    ld.shared.f32 %f4, [%r1+12];

A profiler counts what the assembler made of a text. This is the one change of it that changes how
often shared memory is asked. Four loads need an address that is a multiple of 16, two one of 8:
`multiple_of` works out what is known of a register from the instructions that write it. Next room:
`../ops/row.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from course_lib.gpu.ptx.flow import flow, is_barrier
from course_lib.gpu.ptx.liveness import results, sources
from course_lib.gpu.ptx.parts import Address, Entry, Instruction, Operand, Register, Symbol, Vector

MOST = 1 << 20  # a power of two that says nothing more
WIDTHS = (4, 2)


def merge_shared_loads(entry: Entry, places: Mapping[str, int]) -> Entry:
    """The kernel with 32-bit loads of shared memory merged. `places` are the addresses of its
    variables."""
    known = multiples(entry, places)
    text: list[Instruction | None] = list(entry.instructions)
    for piece in flow(entry).pieces:
        for first in range(piece.start, piece.stop):
            for width in WIDTHS:
                if found := _together(text, first, piece.stop, width, known):
                    loads = [text[n] for n in found]
                    text[first] = _merged([i for i in loads if i is not None])
                    for n in found[1:]:
                        text[n] = None
                    break
    numbers = _renumbered(text)
    labels = {name: numbers[at] for name, at in entry.labels.items()}
    return replace(entry, instructions=tuple(i for i in text if i is not None), labels=labels)


def _renumbered(text: list[Instruction | None]) -> list[int]:
    numbers, count = [], 0
    for i in text:
        numbers.append(count)
        count += i is not None
    return [*numbers, count]


def _together(text: list[Instruction | None], first: int, stop: int, width: int,
              known: Mapping[str, int]) -> list[int]:  # fmt: skip
    """The numbers of `width` loads of neighbours that may all be done at `first`; [] if there are
    not so many."""
    start = text[first]
    if start is None or not _is_plain(start):
        return []
    base, offset = _address(start)
    if _multiple(base, offset, known) % (4 * width):
        return []
    found = {offset: first}
    changed = set(results(start))
    for n in range(first + 1, stop):
        i = text[n]
        if i is None:
            continue
        if _orders(i) or set(results(i)) & _names(base):
            break
        if _is_plain(i) and _address(i)[0] == base and not set(results(i)) & changed:
            found.setdefault(_address(i)[1], n)
        changed |= set(results(i)) | set(sources(i))
    wanted = [offset + 4 * k for k in range(width)]
    return [found[o] for o in wanted] if all(o in found for o in wanted) else []


def _is_plain(i: Instruction) -> bool:
    return i.opcode in ("ld.shared.f32", "ld.shared.b32", "ld.shared.u32") and i.guard is None


def _address(i: Instruction) -> tuple[Operand | None, int]:
    address = i.operands[1]
    assert isinstance(address, Address)
    return address.base, address.offset


def _names(base: Operand | None) -> set[str]:
    return {base.name} if isinstance(base, Register) else set()


def _orders(i: Instruction) -> bool:
    """Must loads stay on their side of it?"""
    return is_barrier(i) or i.name in ("atom", "red", "st", "bar", "membar", "fence", "cp", "wmma")


def _merged(loads: list[Instruction]) -> Instruction:
    first = loads[0]
    opcode = first.opcode.replace("shared.", f"shared.v{len(loads)}.")
    parts = tuple(i.operands[0] for i in loads)
    return replace(first, opcode=opcode, operands=(Vector(parts), first.operands[1]))


# ── what a register is certainly a multiple of ──


def multiples(entry: Entry, places: Mapping[str, int]) -> dict[str, int]:
    """For each register a power of two that divides it, whatever is run. It begins with what is too
    good to be true, and goes down until every instruction agrees."""
    known = {name: MOST for i in entry.instructions for name in results(i)}
    known |= {name: where & -where or MOST for name, where in places.items()}
    changed = True
    while changed:
        changed = False
        for i in entry.instructions:
            for name in results(i):
                now = min(known[name], _of_result(i, known))
                changed |= now != known[name]
                known[name] = now
    return known


def _of_result(i: Instruction, known: Mapping[str, int]) -> int:
    if isinstance(i.operands[0], Vector) or i.has("sat") or any(t.is_float for t in i.types):
        return 1
    operands = [_of(o, known) for o in i.operands[1:]]
    amount = i.operands[-1]
    if i.name in ("mov", "cvt", "cvta"):
        return operands[0]
    if i.name in ("add", "sub", "or", "min", "max"):
        return min(operands[:2])
    if i.name == "and":
        return max(operands[:2])
    if i.name == "shl" and isinstance(amount, int) and 0 <= amount < 32:
        return min(MOST, operands[0] << amount)
    if i.name == "mul" and not i.has("hi"):
        return min(MOST, operands[0] * operands[1])
    if i.name == "mad" and not i.has("hi"):
        return min(operands[0] * operands[1], operands[2])
    return 1


def _of(operand: Operand, known: Mapping[str, int]) -> int:
    if isinstance(operand, int):
        return min(MOST, operand & -operand) or MOST
    return known.get(operand.name, 1) if isinstance(operand, (Register, Symbol)) else 1


def _multiple(base: Operand | None, offset: int, known: Mapping[str, int]) -> int:
    of_base = MOST if base is None else _of(base, known)
    return min(of_base, (offset & -offset) or MOST)
