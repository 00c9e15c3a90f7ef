"""Clocks equal those of the same machine stepped clock by clock, written as plainly as possible."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.chip import DRAM, PRESETS, SRAMS, Chip
from course_lib.accelerator.core.simulate import stalls, times
from course_lib.accelerator.isa.execute import Matmul, MatmulOs, Preload
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.load import Lda, Ldb, Ldw
from course_lib.accelerator.isa.store import Act, St, Vadd


def step(program: list, chip: Chip, limit: int = 20_000) -> dict | None:
    """Clock in which each instruction is fetched, starts and is done; None if nothing moves."""
    program = program[:-1]
    fetched, start, done, asked = {}, {}, {}, {}
    queues: dict = {e: [] for e in ENGINES}
    tokens: dict = {(a, b): 0 for a in ENGINES for b in ENGINES}
    last: dict = {e: None for e in ENGINES}
    for clock in range(limit):
        for n in [n for n in done if done[n] == clock]:
            for other in program[n].signal:
                tokens[program[n].engine, other] += 1
        may_fetch = True
        moved = True
        while moved:
            moved = False
            if may_fetch and len(fetched) < len(program):
                n = len(fetched)
                queue = queues[program[n].engine]
                if len(queue) < chip.queue:
                    fetched[n] = clock
                    queue.append(n)
                    may_fetch, moved = False, True
            for queue in queues.values():
                if queue and is_ready(queue[0], clock, program, chip, start, done, tokens):
                    asked.setdefault(queue[0], clock)
            first_come = sorted(
                (asked[q[0]], place, q)
                for place, q in enumerate(queues.values())
                if q and q[0] in asked
            )
            ahead: list[int] = []
            for _, _, queue in first_come:
                n = queue[0]
                busy = is_blocked(n, clock, program, chip, start, done, ahead)
                ahead.append(n)
                if busy:
                    continue
                queue.pop(0)
                engine = program[n].engine
                for other in program[n].wait:
                    tokens[other, engine] -= 1
                start[n] = clock
                busy, tail = program[n].clocks(chip)
                own = clock + busy + tail
                done[n] = own if last[engine] is None else max(own, done[last[engine]])
                last[engine] = n
                moved = True
                break
        if len(done) == len(program) and clock > max(done.values()):
            return {"fetched": fetched, "start": start, "done": done, "left": tokens}
    return None


def is_ready(n, clock, program, chip, start, done, tokens) -> bool:
    i = program[n]
    if any(not tokens[other, i.engine] for other in i.wait):
        return False
    mine = [m for m in start if program[m].engine == i.engine]
    ends = {m: start[m] + program[m].clocks(chip)[0] for m in mine}
    return not any(
        unit_blocks(i.name, program[m].name, clock, start[m], ends[m], done[m], chip) for m in mine
    )


def is_blocked(n, clock, program, chip, start, done, ahead) -> bool:
    """Has another engine the port or a bank that it needs, or asked for it before?"""
    i = program[n]
    for m in (*start, *ahead):
        other, waits = program[m], m in ahead
        same_bank = other.engine != i.engine and places(i, chip) & places(other, chip)
        same_port = uses_port(i) and uses_port(other)
        if same_bank and (waits or clock < done[m]):
            return True
        if same_port and (waits or clock < start[m] + other.clocks(chip)[0]):
            return True
    return False


def unit_blocks(name, before, clock, start, busy_end, done, chip) -> bool:
    """Does an instruction that started earlier on the same engine keep this one from starting?"""
    if before == "matmul_os" and not chip.drain:
        done -= chip.rows  # its sums move out while the next one is computed
    if name == "preload":
        product = before.startswith("matmul")
        return clock < (done if product and not chip.shadow else start if product else busy_end)
    if name == "matmul_os" or before == "matmul_os":
        return clock < (busy_end if before == "preload" and name != "matmul_os" else
                        0 if before == "preload" else done)  # fmt: skip
    return clock < busy_end


def places(i, chip) -> set:
    """The banks of the SRAMs that an instruction uses, element by element of its regions."""
    found = set()
    for region in (*i.reads(chip), *i.writes(chip)):
        if region.memory in SRAMS and 0 not in region.counts:
            size = chip.size(region.memory) // chip.bank_count(region.memory)
            found |= {(region.memory, a // size) for a in range(region.start, region.end)}
    return found


def uses_port(i) -> bool:
    chip = Chip()
    return any(r.memory == DRAM for r in (*i.reads(chip), *i.writes(chip)))


TINY = replace(
    PRESETS["teaching"], queue=2, dma_latency=3, banks=(2, 2, 2), acts=64, weights=64, accs=8
)


@st.composite
def pieces(draw):
    """Any instruction with any addresses and tokens: what it computes is of no interest here."""
    number = lambda most: draw(st.integers(1, most))  # noqa: E731
    half = draw(st.sampled_from((0, 24)))
    image = dict(h=1, w=number(4), step=4, line=16)
    made = draw(st.sampled_from((
        Ldw(dram=0, weights=half, rows=number(4), bytes=number(8), pitch=8),
        Lda(dram=0, acts=half, bytes=number(6), **image),
        Ldb(dram=0, params=0, count=1),
        Preload(weights=half, k=4, n=4, pitch=4),
        Matmul(acts=half, k=4, n=4, accs=half // 6, **image),
        MatmulOs(acts=half, k=number(6), n=4, weights=half, pitch=4, accs=half // 6, **image),
        Act(accs=half // 6, n=4, params=0, acts=half, **image),
        Vadd(a=0, b=half, acts=half, size=number(20), sa=1, sb=1),
        St(acts=half, dram=0, bytes=number(4), **image),
    )))  # fmt: skip
    others = [e for e in ENGINES if e != made.engine]
    tokens = st.lists(st.sampled_from(others), max_size=1)
    rare = draw(st.integers(0, 3)) == 0
    return replace(made, wait=draw(tokens) if rare else (), signal=draw(tokens))


@given(st.lists(pieces(), min_size=1, max_size=25), st.booleans(), st.booleans(), st.integers(1, 4))
def test_clocks_equal_those_of_a_machine_that_is_stepped(program, shadow, drain, queue):
    chip = replace(TINY, shadow=shadow, drain=drain, queue=queue)
    program = [Preload(weights=0, k=4, n=4, pitch=4), *program, Halt()]
    want = step(program, chip, limit=600)
    if want is None:
        with pytest.raises(Fault, match="no engine can go on"):
            times(program, chip)
        return
    found = times(program, chip)
    count = range(len(program) - 1)
    assert [want["fetched"][n] for n in count] == found.fetched
    assert [want["start"][n] for n in count] == found.start
    assert [want["done"][n] for n in count] == found.done
    assert {pair: n for pair, n in want["left"].items() if n} == found.left
    for engine in ENGINES:
        assert sum(stalls(found, engine).values()) == found.total
