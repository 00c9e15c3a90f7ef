"""Registers for a whole program: what gets none is stored after it is made and loaded before use.

    fma  v9, v1, v2, v3         ld   v3.0, stack[16]
    add  v5, v9, v4      ==>    fma  v9, v1, v2, v3.0
                                st   stack[24], v9
                                ld   v9.0, stack[24]
                                add  v5, v9.0, v4

The loads need registers, too, but for a moment only. So the lives of the new program are found
anew, until all of them get a register. Next room: `depends.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from course_lib.machine.core import STACK, Core, Instr
from course_lib.machine.linear_scan import linear_scan
from course_lib.machine.lives import Live, lives_of

ROUNDS = 60


@dataclass(frozen=True)
class Allocated:
    """code on the processor's registers f0, f1 ...; spilled: the values that live in memory"""

    code: list[Instr]
    spilled: tuple[str, ...]


def allocate(code: Sequence[Instr], core: Core) -> Allocated:
    """The code with registers of the core, by `linear_scan`.

    ValueError if an allocation gives two living values one register, or if it spills even what
    was loaded only to be used at once.
    """
    now, slots = list(code), {}
    for _ in range(ROUNDS):
        lives = lives_of(now)
        assigned = linear_scan(lives, core.registers)
        check_allocation(lives, assigned, core.registers)
        spilled = [live.name for live in lives if live.name not in assigned]
        if not spilled:
            names = {name: f"f{register}" for name, register in assigned.items()}
            return Allocated([_renamed(instr, names) for instr in now], tuple(slots))
        again = [name for name in spilled if "." in name]
        if again and len(again) == len(spilled):
            break
        for name in spilled:
            slots[name] = len(slots) * core.lanes
        now = _spill(now, {name: slots[name] for name in spilled})
    raise ValueError("the allocation spills what was loaded to be used at once: it never ends")


def check_allocation(lives: Sequence[Live], register_of: dict[str, int], registers: int) -> None:
    """ValueError if two living values share a register, or a register does not exist."""
    holders: dict[int, list[Live]] = {}
    for live in (one for one in lives if one.name in register_of):
        register = register_of[live.name]
        if register not in range(registers):
            raise ValueError(f"{live.name} is in register {register!r}; there are {registers}")
        for other in holders.setdefault(register, []):
            if live.meets(other):
                both = f"{live.name} ({live.start}..{live.end}) and {other.name}"
                raise ValueError(f"{both} ({other.start}..{other.end}) share register {register}")
        holders[register].append(live)


def _spill(code: list[Instr], slots: dict[str, int]) -> list[Instr]:
    spilled: list[Instr] = []
    for n, instr in enumerate(code):
        names = {name: f"{name}.{n}" for name in instr.reads if name in slots}
        spilled += [Instr("ld", new, (), (STACK, slots[old])) for old, new in names.items()]
        spilled.append(replace(instr, reads=tuple(names.get(r, r) for r in instr.reads)))
        if instr.into in slots:
            spilled.append(Instr("st", "", (instr.into,), (STACK, slots[instr.into])))
    return spilled


def _renamed(instr: Instr, names: dict[str, str]) -> Instr:
    reads = tuple(names[r] for r in instr.reads)
    return replace(instr, into=names.get(instr.into, ""), reads=reads)
