"""Answers to cost.cache.missed, wrong and right. Next room: schedules.py."""

from __future__ import annotations

from collections import OrderedDict, deque

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.cost.cache import by_registers
from course_lib.cost.reuse import distances


@mutant("cost.cache.missed")
def first_in_first_out(lines, sets, ways):
    held, found = {}, []
    for line in lines:
        here = held.setdefault(line % sets, [])
        if line not in here:
            found.append(line)
            here.append(line)
            del here[:-ways]
    return found


@mutant("cost.cache.missed")
def fully_associative(lines, sets, ways):
    return by_registers(list(lines), 1, sets * ways)


@mutant("cost.cache.missed")
def one_way(lines, sets, ways):
    return by_registers(list(lines), sets * ways, 1)


@mutant("cost.cache.missed")
def the_latest_leaves(lines, sets, ways):
    held, found = {}, []
    for line in lines:
        here = held.setdefault(line % sets, [])
        if line in here:
            here.remove(line)
        else:
            found.append(line)
            if len(here) == ways:
                here.pop()
        here.append(line)
    return found


@mutant("cost.cache.missed")
def each_line_once(lines, sets, ways):
    return list(dict.fromkeys(by_registers(list(lines), sets, ways)))


@mutant("cost.cache.missed")
def the_hits(lines, sets, ways):
    missing = by_registers(list(lines), sets, ways)
    hits = []
    for line in lines:
        if missing and missing[0] == line:
            missing.pop(0)
        else:
            hits.append(line)
    return hits


@mutant("cost.cache.missed")
def a_way_too_many(lines, sets, ways):
    return by_registers(list(lines), sets, ways + 1)


@mutant("cost.cache.missed")
def sets_by_the_upper_part(lines, sets, ways):
    """The number of the set from the quotient."""
    inner = [(line // sets % sets, line) for line in lines]
    numbers = [part + sets * line for part, line in inner]
    return [n // sets for n in by_registers(numbers, sets, ways)]


@mutant("cost.cache.missed")
def counts_them(lines, sets, ways):
    return len(by_registers(list(lines), sets, ways))


@mutant("cost.cache.missed")
def looks_at_all_that_came_before(lines, sets, ways):
    found = []
    for t, line in enumerate(lines):
        since = set()
        for other in reversed(lines[:t]):
            if other == line or len(since) >= ways:
                break
            if other % sets == line % sets:
                since.add(other)
        else:
            other = None
        if other != line or len(since) >= ways:
            found.append(line)
    return found


@alternative("cost.cache.missed")
def with_ordered_dicts(lines, sets, ways):
    table = [OrderedDict() for _ in range(sets)]
    for line in lines:
        here = table[line % sets]
        if line in here:
            here.move_to_end(line)
            continue
        yield line
        here[line] = True
        if len(here) > ways:
            here.popitem(last=False)


@alternative("cost.cache.missed")
def with_times(lines, sets, ways):
    when, out = [{} for _ in range(sets)], []
    for now, line in enumerate(lines):
        here = when[line % sets]
        if line not in here:
            out.append(line)
            if len(here) >= ways:
                here.pop(min(here, key=here.get))
        here[line] = now
    return np.array(out, int)


@alternative("cost.cache.missed")
def with_queues(lines, sets, ways):
    held = {}
    out = []
    for line in lines:
        queue = held.get(line % sets)
        if queue is None:
            queue = held[line % sets] = deque(maxlen=ways)
        try:
            queue.remove(line)
        except ValueError:
            out.append(line)
        queue.append(line)
    return tuple(out)


@alternative("cost.cache.missed")
def by_stack_distances(lines, sets, ways):
    asked = np.asarray(lines, np.int64)
    by_set = np.argsort(asked % sets, kind="stable")
    found = distances(asked[by_set])
    gone = np.zeros(len(asked), bool)
    gone[by_set] = (found < 0) | (found >= ways)
    return asked[gone].tolist()


@alternative("cost.cache.missed")
def in_a_row_of_registers(lines, sets, ways):
    return by_registers(lines, sets, ways)
