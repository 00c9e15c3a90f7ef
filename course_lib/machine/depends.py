"""Which instruction has to wait for which, and for how many cycles.

    0  ld   f0, x[0]         1: {0: 4}          f0 is ready 4 cycles after instruction 0 started
    1  mul  f1, f0, f0       2: {0: 4, 1: 0}    f0 is written again: not before 1 has started
    2  ld   f0, x[8]

After register allocation there are more such edges than before, because a register that is used
again ties two values together that have nothing to do with each other. Next room:
`list_schedule.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.machine.core import Instr

Needs = list[dict[int, int]]  # for each instruction {an earlier one: cycles to wait}


def needs_of(code: Sequence[Instr], lanes: int = 8) -> Needs:
    """For each instruction, the earlier ones that it waits for: {number: cycles after its start}.

    A register that is read was written (its latency); one that is written must have been written
    (its latency) and read (0) before. A load waits for the stores to the same memory (their
    latency), and a store for the loads of it (0) and the stores to it (1).
    """
    needs: Needs = []
    written: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    memory: dict[tuple[str, bool], list[int]] = {}  # loads and stores (True) of a buffer
    for n, instr in enumerate(code):
        wait: dict[int, int] = {}

        def after(m: int, cycles: int, wait: dict[int, int] = wait) -> None:
            wait[m] = max(wait.get(m, 0), cycles)

        for name in (*instr.reads, *([instr.into] if instr.into else [])):
            if name in written:
                after(written[name], code[written[name]].row.latency)
        for m in readers.pop(instr.into, []) if instr.into else []:
            after(m, 0)
        buffer = instr.at[0] if instr.at else ""
        for stores in (True, False) if instr.writes_memory else (True,):
            for m in memory.get((buffer, stores), []):
                if (cycles := _through_memory(code[m], instr, lanes)) is not None:
                    after(m, cycles)
        for name in instr.reads:
            readers.setdefault(name, []).append(n)
        if instr.into:
            written[instr.into] = n
            readers.setdefault(instr.into, [])
        if instr.at:
            memory.setdefault((buffer, instr.writes_memory), []).append(n)
        wait.pop(n, None)
        needs.append(wait)
    return needs


def _through_memory(earlier: Instr, later: Instr, lanes: int) -> int | None:
    """Cycles that `later` waits for what `earlier` does with the same buffer; None: not at all."""
    assert earlier.at is not None and later.at is not None
    sizes = [1 if instr.op == "bc" else lanes for instr in (earlier, later)]
    (_, a), (_, b) = earlier.at, later.at
    if a + sizes[0] <= b or b + sizes[1] <= a:
        return None
    return earlier.row.latency if earlier.writes_memory else 0


def check_order(order: Sequence[int], needs: Needs) -> None:
    """ValueError if the order is no permutation, or an instruction comes before what it needs."""
    if sorted(order) != list(range(len(needs))):
        raise ValueError("the order must name each instruction once")
    before: set[int] = set()
    for n in order:
        for m in needs[n]:
            if m not in before:
                raise ValueError(f"instruction {n} must come after {m}")
        before.add(n)


def starts(order: Sequence[int], needs: Needs, width: int) -> list[int]:
    """In which cycle each instruction starts, if they start in this order, `width` in a cycle.

    Indexed like `needs`. ValueError as `check_order` says.
    """
    check_order(order, needs)
    at = [0] * len(needs)
    cycle = started = 0
    for n in order:
        ready = 0
        for m, wait in needs[n].items():
            ready = max(ready, at[m] + wait)
        if ready > cycle or started == width:
            cycle, started = max(ready, cycle + (started == width and ready <= cycle)), 0
        at[n] = cycle
        started += 1
    return at


def cycles_of(order: Sequence[int], needs: Needs, width: int) -> int:
    """Cycles from the start of the first instruction to that of the last, both included."""
    return max(starts(order, needs, width), default=-1) + 1


def bound(needs: Needs, width: int) -> int:
    """No order takes fewer cycles: the longest chain, and all instructions `width` at a time."""
    earliest: list[int] = []
    for wait in needs:
        earliest.append(max((earliest[m] + cycles for m, cycles in wait.items()), default=0))
    return max(max(earliest, default=-1) + 1, -(-len(needs) // width))
