"""Answers to machine.list_schedule, wrong and right."""

from __future__ import annotations

import heapq

from autograder.check.exemplars import in_the_library
from autograder.check.framework import alternative, alternatives, equivalent, mutants

LIST = "machine.list_schedule"

# Any legal order earns something, and a short one earns more.
for _order in ("course_lib.machine.list_schedule.as_given", "course_lib.memory.order.as_given"):
    in_the_library(LIST, _order, because="the order as it is, which the unit shows, to be beaten")

CHAIN = "max((cycles + chain[r] for r, cycles in readers[n].items()), default=0)"
mutants(
    LIST,
    the_order_of_the_program=lambda needs, width: list(range(len(needs))),
    backwards=lambda needs, width: list(range(len(needs)))[::-1],
    by_chains_alone=("order: list[int] = []", "return sorted(range(len(needs)), key=lambda n: "
                     "(chain[n], -n))"),
    the_place_of_each=("return order", "return [order.index(n) for n in range(len(needs))]"),
    # the sum of the chains behind an instruction, not the longest
    all_ways_of_a_chain_together=("max((cycles", "sum((cycles", ", default=0", ""),
    chains_of_instructions=("cycles + chain[r]", "1 + chain[r]"),
    only_the_wait_of_the_next=("cycles + chain[r]", "cycles"),
    one_in_a_cycle=("range(width)", "range(1)"),
    the_last_reader_decides=(CHAIN, CHAIN.replace("max(", "next(").replace("default=", "")),
    a_thousand_cycles_at_most=("while ready:", "while ready and cycle < 1000:"),
    a_list_for_each_cycle=("return order", "return [order[k:k + width] for k in range(0, "
                           "len(order), width)]"),
    without_the_last=("return order", "return order[:-1]"),
    numbered_from_1=("return order", "return [n + 1 for n in order]"),
    forgets_who_waits_no_cycle=("readers[m][n] = cycles", "readers[m].update({n: cycles} if cycles "
                                "else {})", "len(wait)", "sum(c > 0 for c in wait.values())"),
    the_cycle_of_each=("return order", "return {n: k for k, n in enumerate(order)}"),
)  # fmt: skip
alternatives(
    LIST,
    ties_by_readers=("(chain[n], -n)", "(chain[n], len(readers[n]), -n)"),
    as_a_tuple=("return order", "return tuple(order)"),
    as_an_array=("return order", "import numpy as np\n    return np.array(order, dtype=int)"),
    one_after_another=("return order", "yield from order"),
)


@alternative(LIST)
def with_a_heap(needs, width):
    chain, readers = [0] * len(needs), [[] for _ in needs]
    left, when = [len(w) for w in needs], [0] * len(needs)
    for n in reversed(range(len(needs))):
        for m, cycles in needs[n].items():
            readers[m].append((n, cycles))
            chain[m] = max(chain[m], cycles + chain[n])
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
