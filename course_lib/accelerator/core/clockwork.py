"""When each instruction starts and is done: no clock is stepped, only instructions are.

    clockwork(program, needs, chip)   ->   Times(total=1386, start=[0, 1, ...], gaps=[...])

Instructions are fetched in the order of the program, one in a clock, into the queue of their
engine, and leave it when they start. A full queue stops fetching, for all engines. Each engine
takes its instructions in order. One is ready when it is there, its tokens are, and its engine is
free; then it asks for the port and its banks, and starts when no other engine has one of them. Who
was ready first gets them first; of two in the same clock, load goes before execute before store. So
the loop takes whichever is ready first: nothing that is not ready yet could be in its way. An
instruction is done when its own work and all before it on its engine are: then it signals.

The array is pipelined: pixels of the next `matmul` enter right behind those of this one, while its
last sums still move out. A `preload` waits until the product before it has started (shadow
weights) or is done. So F tiles of m pixels take (F-1) max(m, R) + m + 2R + C - 2 clocks, or
F (m + 2R + C - 2). The sums of a `matmul_os` need R clocks to move out before it is done; if the
chip does not count that drain, the next product starts R clocks before. Next room: `deadlock.py`.

Reading path of the chip, 12 of 12; its end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.core.deadlock import deadlock
from course_lib.accelerator.core.needs import MATMUL, MATMUL_OS, PRELOAD, Needs, bank_names
from course_lib.accelerator.isa.instruction import ENGINES, Instruction

NEVER = 1 << 62


class Gap(NamedTuple):
    """Clocks from `start` to `end` in which an engine did nothing, and why. `instruction` is what
    waited; after the last one of its engine, it is -1."""

    engine: int
    start: int
    end: int
    cause: str
    instruction: int


@dataclass(frozen=True, eq=False)
class Times:
    """All times are in clocks, all lists by number of instruction.

    fetched, start, busy_end, done   as in the text above; the engine is busy from start to busy_end
    order    the instructions in the order in which they start
    givers   for each instruction, those whose tokens it took
    busy     clocks in which each engine did something; the array streams
    left     tokens that nobody took: (from, to) -> how many
    """

    total: int
    fetched: list[int]
    start: list[int]
    busy_end: list[int]
    done: list[int]
    order: list[int]
    givers: list[tuple[int, ...]]
    gaps: list[Gap]
    busy: list[int]
    left: dict[tuple[str, str], int]


def clockwork(
    program: Sequence[Instruction], needs: Needs, chip: Chip, instant_fetch: bool = False
) -> Times:
    """Run the engines. Raises a Fault if they come to wait for each other for ever."""
    machine = _Clockwork(needs, chip, instant_fetch)
    machine.run()
    if len(machine.order) < len(needs.engine):
        missing = [machine.missing(engine) for engine in range(3)]
        raise deadlock(program, machine.queues, machine.next_fetch, chip, missing)
    return machine.times()


class _Clockwork:
    """Lists by engine are in the order of ENGINES. Tokens are (clock, giver)."""

    def __init__(self, needs: Needs, chip: Chip, instant_fetch: bool) -> None:
        count = len(needs.engine)
        self.needs, self.chip, self.instant_fetch = needs, chip, instant_fetch
        self.fetched, self.start, self.busy_end, self.done = ([0] * count for _ in range(4))
        self.givers: list[tuple[int, ...]] = [()] * count
        self.order: list[int] = []
        self.gaps: list[Gap] = []
        self.next_fetch, self.fetch_time = 0, -1
        self.queues: list[deque[int]] = [deque() for _ in ENGINES]
        self.left: list[list[int]] = [[], [], []]  # when each instruction left its queue
        self.ready = [NEVER] * 3  # when the first of the queue is ready
        self.tokens: list[list[deque[tuple[int, int]]]] = [[deque() for _ in "les"] for _ in "les"]
        self.free = [0] * 5  # by unit: when the next one may start
        self.loaded = 0  # when the last weights were in the cells
        self.busy, self.idle, self.last_done = [0] * 3, [0] * 3, [0] * 3
        self.owned = [0] * 3  # by engine: the banks that it had last
        self.until = [0] * len(bank_names(chip))
        self.bits: dict[int, tuple[int, ...]] = {}
        self.places = [self._bits(banks) for banks in needs.banks]

    def run(self) -> None:
        ready, count = self.ready, len(self.needs.engine)
        while True:
            if self.next_fetch < count:
                self._fetch()
            first = min(ready)
            if first == NEVER:
                return
            self._issue(ready.index(first), first)

    def _fetch(self) -> None:
        """Fetch until a queue is full."""
        engines, depth = self.needs.engine, self.chip.queue
        for number in range(self.next_fetch, len(engines)):
            engine = engines[number]
            queue = self.queues[engine]
            if len(queue) == depth:
                return
            if not self.instant_fetch:
                time, left = self.fetch_time + 1, self.left[engine]
                freed = len(left) + len(queue) - depth  # whose place it takes
                self.fetch_time = time if freed < 0 or left[freed] < time else left[freed]
            self.fetched[number] = self.fetch_time
            self.next_fetch = number + 1
            queue.append(number)
            if len(queue) == 1:
                self._look(engine)

    def _look(self, engine: int) -> None:
        """When is the first of the queue ready?"""
        needs, queue = self.needs, self.queues[engine]
        self.ready[engine] = NEVER
        if not queue:
            return
        number = queue[0]
        ready, free = self.fetched[number], self.free[needs.unit[number]]
        if free > ready:
            ready = free
        for other in needs.wait[number]:
            tokens = self.tokens[other][engine]
            if not tokens:
                return
            ready = max(ready, tokens[0][0])
        self.ready[engine] = ready

    def _bits(self, banks: int) -> tuple[int, ...]:
        numbers = self.bits.get(banks)
        if numbers is None:
            numbers = self.bits[banks] = tuple(b for b in range(len(self.until)) if banks >> b & 1)
        return numbers

    def _issue(self, engine: int, start: int) -> None:
        needs = self.needs
        number = self.queues[engine].popleft()
        others = needs.banks[number] & ~self.owned[engine]
        if others:
            start = max(start, *[self.until[bank] for bank in self._bits(others)])
        if start > self.idle[engine]:
            self._explain(engine, number, start)
        for other in needs.wait[number]:
            self.givers[number] += (self.tokens[other][engine].popleft()[1],)
        busy_end = start + needs.busy[number]
        done, unit = busy_end + needs.tail[number], needs.unit[number]
        if done < self.last_done[engine]:
            done = self.last_done[engine]
        if unit != PRELOAD:
            self.idle[engine] = busy_end
            self.busy[engine] += busy_end - start
        self.order.append(number)
        self.start[number], self.busy_end[number], self.done[number] = start, busy_end, done
        self.last_done[engine] = done
        self.left[engine].append(start)
        self._take_unit(unit, start, busy_end, done)
        self._take_banks(engine, number, busy_end, done)
        self._look(engine)
        for other in needs.signal[number]:
            self.tokens[engine][other].append((done, number))
            if self.ready[other] == NEVER:
                self._look(other)

    def _take_unit(self, unit: int, start: int, busy_end: int, done: int) -> None:
        """Until when the next instruction of each unit has to wait for this one."""
        free = self.free
        free[unit] = busy_end
        if unit == PRELOAD:
            self.loaded = busy_end
            free[MATMUL] = max(free[MATMUL], busy_end)
            free[MATMUL_OS] = max(free[MATMUL_OS], start)  # in order
        elif unit >= MATMUL:
            if unit == MATMUL_OS:
                hidden = 0 if self.chip.drain else self.chip.rows
                done = max(busy_end, done - hidden)
                free[MATMUL] = done
            behind = start if self.chip.shadow else done
            if free[PRELOAD] < behind:
                free[PRELOAD] = behind
            free[MATMUL_OS] = done

    def _take_banks(self, engine: int, number: int, busy_end: int, done: int) -> None:
        """Until when others have to wait for the banks of an instruction."""
        until, banks = self.until, self.needs.banks[number]
        for bank in self.places[number]:
            if until[bank] < done:
                until[bank] = done if bank else busy_end
        if banks & ~self.owned[engine]:
            self.owned = [owned & ~banks for owned in self.owned]
            self.owned[engine] |= banks

    def _explain(self, engine: int, number: int, start: int) -> None:
        """Why the engine was idle until `start`: each clock has the first cause that fits."""
        needs, at = self.needs, self.idle[engine]
        causes = [("fetch", self.fetched[number])]
        for other in needs.wait[number]:
            causes.append((f"wait={ENGINES[other]}", self.tokens[other][engine][0][0]))
        if needs.unit[number] in (PRELOAD, MATMUL):
            causes.append(("weights", self.loaded))
        causes.append(("drain", self.free[needs.unit[number]]))
        others = self._bits(needs.banks[number] & ~self.owned[engine])
        causes += [("bank" if bank else "port", self.until[bank]) for bank in others]
        for cause, until in causes:
            if min(until, start) > at:
                self.gaps.append(Gap(engine, at, min(until, start), cause, number))
                at = min(until, start)
        if needs.unit[number] == PRELOAD:
            self.idle[engine] = start

    def missing(self, engine: int) -> list[str]:
        """The engines whose token the first instruction of a queue waits for, and lacks."""
        wait = self.needs.wait[self.queues[engine][0]] if self.queues[engine] else ()
        return [ENGINES[other] for other in wait if not self.tokens[other][engine]]

    def times(self) -> Times:
        total = max(self.last_done)
        for engine, done in enumerate(self.last_done):
            idle = self.idle[engine]
            tail = "drain" if engine == 1 else "latency"
            rest = [(tail, idle, max(idle, done)), ("finished", max(idle, done), total)]
            self.gaps += [Gap(engine, a, b, cause, -1) for cause, a, b in rest if b > a]
        left = {
            (a, b): len(self.tokens[i][j])
            for i, a in enumerate(ENGINES)
            for j, b in enumerate(ENGINES)
            if self.tokens[i][j]
        }
        return Times(
            total, self.fetched, self.start, self.busy_end, self.done,
            sorted(self.order, key=self.start.__getitem__), self.givers,
            self.gaps, self.busy, left,
        )  # fmt: skip
