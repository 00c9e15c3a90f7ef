"""Which registers a piece writes that something after it reads.

    outgoing(entry, flow(entry))   ->   [{"%r1", "%f29"}, ...], one set for each piece

A result that dies within its piece never has to be kept for the others. Next room: `../ops/`.
"""

from __future__ import annotations

from collections.abc import Iterator

from course_lib.gpu.ptx.flow import Flow
from course_lib.gpu.ptx.parts import Address, Entry, Instruction, Operand, Pair, Register, Vector

NO_RESULT = ("st", "bra", "ret", "exit", "trap", "bar", "barrier", "red", "membar", "fence", "cp")


def outgoing(entry: Entry, flow: Flow) -> list[frozenset[str]]:
    """By piece: the registers that it writes, and that are read after it."""
    uses, defines = zip(*(_of_piece(entry.instructions[p.start : p.stop]) for p in flow.pieces),
                        strict=True)  # fmt: skip
    live: list[frozenset[str]] = [frozenset()] * (len(flow.pieces) + 1)
    after = list(live)
    changed = True
    while changed:
        changed = False
        for k in reversed(range(len(flow.pieces))):
            after[k] = frozenset().union(*(live[f] for f in flow.pieces[k].follows))
            now = uses[k] | (after[k] - defines[k])
            changed |= now != live[k]
            live[k] = now
    written = [
        {name for i in entry.instructions[p.start : p.stop] for name in results(i)}
        for p in flow.pieces
    ]
    return [frozenset(w & a) for w, a in zip(written, after, strict=False)]


def _of_piece(instructions: tuple[Instruction, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """What it reads before it writes it, and what it writes for certain."""
    uses: set[str] = set()
    defines: set[str] = set()
    for i in instructions:
        uses |= set(sources(i)) - defines
        if i.guard is None:
            defines |= set(results(i))
        else:  # a result that is not written keeps what it was
            uses |= ({i.guard.name} | set(results(i))) - defines
    return frozenset(uses), frozenset(defines)


def results(instruction: Instruction) -> Iterator[str]:
    """The registers that it writes."""
    if writes(instruction):
        yield from _registers(instruction.operands[0])


def sources(instruction: Instruction) -> Iterator[str]:
    """The registers that it reads; its guard is not among them."""
    for operand in instruction.operands[1 if writes(instruction) else 0 :]:
        yield from _registers(operand)


def writes(instruction: Instruction) -> bool:
    """Is its first operand a result?"""
    stores = instruction.name == "wmma" and instruction.has("store")
    return bool(instruction.operands) and instruction.name not in NO_RESULT and not stores


def _registers(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, Address):
        if isinstance(operand.base, Register):
            yield operand.base.name
    elif isinstance(operand, Vector):
        for part in operand.parts:
            yield from _registers(part)
    elif isinstance(operand, Pair):
        yield from _registers(operand.first)
        yield from _registers(operand.second)
