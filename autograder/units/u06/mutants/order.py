"""Answers to machine.list_schedule, wrong and right."""

from __future__ import annotations

import heapq

import numpy as np

from autograder.check.exemplars import in_the_library
from autograder.check.framework import alternative, equivalent, mutant

# Any legal order earns something, and a short one earns more.
for _order in ("course_lib.machine.list_schedule.as_given", "course_lib.memory.order.as_given"):
    in_the_library("machine.list_schedule", _order,
                   because="the order as it is, which the unit shows, to be beaten")  # fmt: skip


def _chains(needs, step=lambda cycles: cycles):
    chain = [0] * len(needs)
    for n in reversed(range(len(needs))):
        for m, cycles in needs[n].items():
            chain[m] = max(chain[m], step(cycles) + chain[n])
    return chain


def _list(needs, width, key, waits=True):
    start, order, cycle = {}, [], 0
    while len(order) < len(needs):
        for _ in range(width):
            able = [
                n
                for n in range(len(needs))
                if n not in start
                and all(
                    m in start and (not waits or start[m] + c <= cycle) for m, c in needs[n].items()
                )
            ]
            if not able:
                break
            chosen = max(able, key=key)
            start[chosen] = cycle
            order.append(chosen)
        cycle += 1
    return order


@mutant("machine.list_schedule")
def the_order_of_the_program(needs, width):
    return list(range(len(needs)))


@mutant("machine.list_schedule")
def backwards(needs, width):
    return list(range(len(needs)))[::-1]


@mutant("machine.list_schedule")
def by_chains_alone(needs, width):
    chain = _chains(needs)
    return sorted(range(len(needs)), key=lambda n: (chain[n], -n))


@mutant("machine.list_schedule")
def the_place_of_each(needs, width):
    chain = _chains(needs)
    order = _list(needs, width, lambda n: (chain[n], -n))
    return [order.index(n) for n in range(len(needs))]


@mutant("machine.list_schedule")
def all_ways_of_a_chain_together(needs, width):
    """The sum of the chains behind an instruction, not the longest."""
    chain = [0] * len(needs)
    for n in reversed(range(len(needs))):
        for m, cycles in needs[n].items():
            chain[m] += cycles + chain[n]
    return _list(needs, width, lambda n: (chain[n], -n))


@mutant("machine.list_schedule")
def chains_of_instructions(needs, width):
    chain = _chains(needs, lambda cycles: 1)
    return _list(needs, width, lambda n: (chain[n], -n))


@mutant("machine.list_schedule")
def only_the_wait_of_the_next(needs, width):
    waits = [max((w[n] for w in needs if n in w), default=0) for n in range(len(needs))]
    return _list(needs, width, lambda n: (waits[n], -n))


@mutant("machine.list_schedule")
def one_in_a_cycle(needs, width):
    chain = _chains(needs)
    return _list(needs, 1, lambda n: (chain[n], -n))


@mutant("machine.list_schedule")
def the_last_reader_decides(needs, width):
    chain = [0] * len(needs)
    for n in reversed(range(len(needs))):
        for m, cycles in needs[n].items():
            chain[m] = cycles + chain[n]
    return _list(needs, width, lambda n: (chain[n], -n))


@mutant("machine.list_schedule")
def a_thousand_cycles_at_most(needs, width):
    chain = _chains(needs)
    order, cycle, start = [], 0, {}
    while len(order) < len(needs) and cycle < 1000:
        able = [n for n in range(len(needs)) if n not in start
                and all(start.get(m, cycle) + c <= cycle and m in start
                        for m, c in needs[n].items())]  # fmt: skip
        for n in sorted(able, key=lambda n: -chain[n])[:width]:
            start[n] = cycle
            order.append(n)
        cycle += 1
    return order


@mutant("machine.list_schedule")
def a_list_for_each_cycle(needs, width):
    chain = _chains(needs)
    order = _list(needs, width, lambda n: (chain[n], -n))
    return [order[k : k + width] for k in range(0, len(order), width)]


@mutant("machine.list_schedule")
def without_the_last(needs, width):
    chain = _chains(needs)
    return _list(needs, width, lambda n: (chain[n], -n))[:-1]


@mutant("machine.list_schedule")
def numbered_from_1(needs, width):
    chain = _chains(needs)
    return [n + 1 for n in _list(needs, width, lambda n: (chain[n], -n))]


@mutant("machine.list_schedule")
def forgets_who_waits_no_cycle(needs, width):
    chain = _chains(needs)
    return _list([{m: c for m, c in wait.items() if c} for wait in needs], width,
                 lambda n: (chain[n], -n))  # fmt: skip


@mutant("machine.list_schedule")
def the_cycle_of_each(needs, width):
    chain = _chains(needs)
    order = _list(needs, width, lambda n: (chain[n], -n))
    return {n: k for k, n in enumerate(order)}


@alternative("machine.list_schedule")
def with_a_heap(needs, width):
    chain = _chains(needs)
    readers = [[] for _ in needs]
    left, when = [len(w) for w in needs], [0] * len(needs)
    for n, wait in enumerate(needs):
        for m, cycles in wait.items():
            readers[m].append((n, cycles))
    later = [(0, n) for n in range(len(needs)) if not left[n]]
    order, now, cycle, started = [], [], 0, 0
    while later or now:
        while later and later[0][0] <= cycle:
            n = heapq.heappop(later)[1]
            heapq.heappush(now, (-chain[n], n))
        if not now or started == width:
            cycle, started = cycle + 1, 0
            continue
        n = heapq.heappop(now)[1]
        order.append(n)
        started += 1
        for r, cycles in readers[n]:
            when[r], left[r] = max(when[r], cycle + cycles), left[r] - 1
            if not left[r]:
                heapq.heappush(later, (when[r], r))
    return order


@alternative("machine.list_schedule")
def ties_by_readers(needs, width):
    chain = _chains(needs)
    readers = [sum(n in wait for wait in needs) for n in range(len(needs))]
    return _list(needs, width, lambda n: (chain[n], readers[n], -n))


@alternative("machine.list_schedule")
def as_a_tuple(needs, width):
    chain = _chains(needs)
    return tuple(_list(needs, width, lambda n: (chain[n], n)))


@alternative("machine.list_schedule")
def as_an_array(needs, width):
    chain = _chains(needs)
    return np.array(_list(needs, width, lambda n: (chain[n], -n)), dtype=int)


@alternative("machine.list_schedule")
def one_after_another(needs, width):
    chain = _chains(needs)
    yield from _list(needs, width, lambda n: (chain[n], -n))


LIST = "machine.list_schedule"
READY = "which of several is taken is decided by the chain, not by the order of the list"
EARLIER = "instruction 0 waits for nothing, and the last one has no readers"
SHIFT = "all chains, or all cycles, are shifted alike: the order is the same"
for old, new in (
    ("for n, wait in enumerate(needs)", "reversed("),
    ("for _ in needs", "reversed("),
    ("in wait.items()", "reversed("),
    ("ready = [n for n", "reversed("),
    ("in readers[chosen].items()", "reversed("),
    ("able = [n for n", "reversed("),
    ("ready.append(reader)", "ready.insert(0,"),
    ("readers[m][n] =", "setdefault"),
):
    equivalent(LIST, old, new, because=READY)  # fmt: skip
equivalent(LIST, "for n, wait in enumerate(needs)", "[1:]", because=EARLIER)
equivalent(LIST, "for n in reversed(range(len(needs)))", "[1:]", because=EARLIER)
for old, new in (
    ("chain = [0]", "chain = ["),
    ("default=0)", "default="),
    ("cycle = 0", "cycle = "),
    ("[0] * len(needs)", "1] * len(needs)"),
):
    equivalent(LIST, old, new, because=SHIFT)  # fmt: skip
equivalent(LIST, "break", "continue", because="nothing else can start in this cycle either")
equivalent(LIST, "(chain[n], -n)", "(chain[n],", because="ties may be broken in any way")
