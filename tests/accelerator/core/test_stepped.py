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


def step(program: list, chip: Chip, limit: int = 20_000) -> Stepped | None:
    """The machine after the program has run; None if nothing moves."""
    machine = Stepped(program[:-1], chip)
    for clock in range(limit):
        machine.signal(clock)
        may_fetch = moved = True
        while moved:
            fetched = may_fetch and machine.fetch(clock)
            may_fetch = may_fetch and not fetched
            moved = machine.issue(clock) or fetched
        if len(machine.done) == len(machine.program) and clock > max(machine.done.values()):
            return machine
    return None


class Stepped:
    """Clock in which each instruction is fetched, starts and is done, queues and tokens."""

    def __init__(self, program: list, chip: Chip) -> None:
        self.program, self.chip = program, chip
        self.fetched: dict = {}
        self.asked: dict = {}
        self.start: dict = {}
        self.done: dict = {}
        self.queues: dict = {e: [] for e in ENGINES}
        self.tokens: dict = {(a, b): 0 for a in ENGINES for b in ENGINES}
        self.last: dict = {e: None for e in ENGINES}

    def signal(self, clock: int) -> None:
        for n in [n for n in self.done if self.done[n] == clock]:
            for other in self.program[n].signal:
                self.tokens[self.program[n].engine, other] += 1

    def fetch(self, clock: int) -> bool:
        """The next instruction into its queue, if there is room."""
        n = len(self.fetched)
        if n == len(self.program):
            return False
        queue = self.queues[self.program[n].engine]
        if len(queue) == self.chip.queue:
            return False
        self.fetched[n] = clock
        queue.append(n)
        return True

    def issue(self, clock: int) -> bool:
        """One instruction starts, if any can: the one that has asked first."""
        heads = [queue[0] for queue in self.queues.values() if queue]
        for n in heads:
            if self.is_ready(n, clock):
                self.asked.setdefault(n, clock)
        ahead: list[int] = []
        for n in sorted((n for n in heads if n in self.asked), key=lambda n: self.asked[n]):
            if not self.is_blocked(n, clock, ahead):
                self.begin(n, clock)
                return True
            ahead.append(n)
        return False

    def begin(self, n: int, clock: int) -> None:
        engine = self.program[n].engine
        self.queues[engine].pop(0)
        for other in self.program[n].wait:
            self.tokens[other, engine] -= 1
        own = clock + sum(self.program[n].clocks(self.chip))
        before = self.last[engine]
        self.start[n] = clock
        self.done[n] = own if before is None else max(own, self.done[before])
        self.last[engine] = n

    def is_ready(self, n: int, clock: int) -> bool:
        i = self.program[n]
        if any(not self.tokens[other, i.engine] for other in i.wait):
            return False
        return not any(
            unit_blocks(i.name, self.program[m].name, clock, self.start[m], self.freed(m),
                        self.done[m], self.chip)
            for m in self.start if self.program[m].engine == i.engine
        )  # fmt: skip

    def is_blocked(self, n: int, clock: int, ahead: list[int]) -> bool:
        """Has another engine the port or a bank that it needs, or asked for it before?"""
        i = self.program[n]
        for m in (*self.start, *ahead):
            other, waits = self.program[m], m in ahead
            same_bank = other.engine != i.engine and places(i, self.chip) & places(other, self.chip)
            same_port = uses_port(i) and uses_port(other)
            if same_bank and (waits or clock < self.done[m]):
                return True
            if same_port and (waits or clock < self.freed(m)):
                return True
        return False

    def freed(self, n: int) -> int:
        """When its engine has done with it; what it computes may come later."""
        busy, _ = self.program[n].clocks(self.chip)
        return self.start[n] + busy


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
    assert [want.fetched[n] for n in count] == found.fetched
    assert [want.start[n] for n in count] == found.start
    assert [want.done[n] for n in count] == found.done
    assert {pair: n for pair, n in want.tokens.items() if n} == found.left
    for engine in ENGINES:
        assert sum(stalls(found, engine).values()) == found.total
