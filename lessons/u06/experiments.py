"""Two compilers that the unit does not build: sums that stay, and a scheduler that counts values.

    in_place(code, core)    a result takes the register of an operand that it replaces
    counting(code, core)    nothing starts that would make more values live than there are registers

Next room: autograder/units/u06/checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from course_lib.draw.base.picture import Picture
from course_lib.machine.block import block_of
from course_lib.machine.build import Built, measure, scheduled
from course_lib.machine.core import Core, Instr
from course_lib.machine.depends import needs_of
from course_lib.machine.lives import lives_of
from course_lib.machine.select import select
from course_lib.machine.spill import allocate
from lessons.u06.kernels import kernels
from lessons.u06.tables import built, counts_table


def in_place(code: Sequence[Instr], core: Core) -> list[Instr]:
    """Registers for code that needs no spill: a result has that of its last operand, if that
    operand is read no more; otherwise the one that has been free longest."""
    ends = {live.name: live.end for live in lives_of(code)}
    free, register = [f"f{k}" for k in range(core.registers)], {}
    renamed = []
    for n, instr in enumerate(code):
        over = [name for name in dict.fromkeys(instr.reads) if ends[name] == n]
        reads = tuple(register[name] for name in instr.reads)
        stays = instr.reads[-1] if instr.into and instr.reads and instr.reads[-1] in over else ""
        free += [register[name] for name in over if name != stays]
        if instr.into:
            register[instr.into] = register[stays] if stays else free.pop(0)
        renamed.append(replace(instr, into=register.get(instr.into, ""), reads=reads))
    return renamed


def counting(code: Sequence[Instr], core: Core) -> list[Instr]:
    """List scheduling by longest chains that keeps the living values within the registers."""
    needs = needs_of(code, core.lanes)
    chain = [0] * len(code)
    for n in reversed(range(len(code))):
        for m, cycles in needs[n].items():
            chain[m] = max(chain[m], cycles + chain[n])
    left = Counter(name for instr in code for name in set(instr.reads))
    alive, cycle, start, order = 0, 0, {}, []

    def grows(n: int) -> int:
        return bool(code[n].into) - sum(left[name] == 1 for name in set(code[n].reads))

    while len(order) < len(code):
        able = [n for n in range(len(code)) if n not in start
                and all(m in start and start[m] + c <= cycle for m, c in needs[n].items())
                and (grows(n) <= 0 or alive + grows(n) <= core.registers)]  # fmt: skip
        if able:
            chosen = max(able, key=lambda n: (chain[n], -n))
            alive += grows(chosen)
            left.subtract(set(code[chosen].reads))
            start[chosen] = cycle
            order.append(chosen)
        cycle += 1
    return [code[n] for n in order]


def experiments_table() -> Picture:
    """The kernels with the student's pieces, with sums that stay, and with a scheduler that
    counts; all three compute the same (tests/units/test_u06.py)."""
    rows = []
    for name in kernels():
        runs = [built(name, "your order")[1], *map(measure, experiments(name))]
        rows.append([name, *(run.cycles for run in runs)])
    ways = ("your pieces", "sums stay in their registers", "living values are counted")
    return counts_table(rows, ["kernel", *(f"{way} (cycles)" for way in ways)])


def experiments(name: str) -> tuple[Built, Built]:
    """A kernel compiled in the two other ways. `counting` runs one instruction in a cycle."""
    kernel, core = kernels()[name], Core()
    block = block_of(kernel, core.lanes)
    code = select(block)
    stays = scheduled(in_place(code, core), core, block.lanes)
    allocation = allocate(counting(code, core), core)
    return (Built(kernel, core, block.lanes, code, stays, ()),
            Built(kernel, core, block.lanes, code, allocation.code,
                  allocation.spilled))  # fmt: skip
