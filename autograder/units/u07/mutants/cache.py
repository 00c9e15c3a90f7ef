"""Answers to cost.cache.missed, wrong and right. Next room: schedules.py."""

from __future__ import annotations

from collections import OrderedDict, deque

import numpy as np

from autograder.check.framework import alternative, mutant, mutants
from course_lib.cost.reuse import distances

mutants(
    "cost.cache.missed",
    first_in_first_out=("here.remove(line)", "continue"),
    the_latest_leaves=("del here[0]", "del here[-1]"),
    fully_associative=("line % sets", "0", "== ways", "== sets * ways"),
    one_way=("line % sets", "line % (sets * ways)", "== ways", "== 1"),
    each_line_once=("return found", "return list(dict.fromkeys(found))"),
    the_hits=("found.append(line)", "pass", "here.remove(line)",
              "here.remove(line)\n            found.append(line)"),
    a_way_too_many=("== ways", "== ways + 1"),
    eight_ways_at_most=("== ways", "== min(ways, 8)"),
    sixteen_sets_at_most=("line % sets", "line % min(sets, 16)"),
    sets_by_the_lowest_bits=("line % sets", "line % (1 << sets.bit_length() - 1)"),
    sets_by_the_upper_part=("line % sets", "line // sets % sets"),
    lines_of_32_bits=("found.append(line)", "found.append(int(np.int64(line).astype(np.int32)))"),
    counts_them=("return found", "return len(found)"),
    sorts_them=("return found", "return sorted(found)"),
    the_cache_stays_full=("def missed(", "KEPT = {}\n\ndef missed(",
                          "held: dict[int, list[int]] = {}",
                          "held = KEPT.setdefault((sets, ways), {})"),
    copies_the_cache=("for line in lines:", "for line in lines:\n        held = dict(held)"),
)  # fmt: skip


@mutant("cost.cache.missed")
def slices_what_came_before(lines, sets, ways):
    """For each access, all that came before it."""
    found, last = [], {}
    for t, line in enumerate(lines):
        since = lines[:t][last[line] + 1 :] if line in last else None
        if since is None or len({n for n in since if n % sets == line % sets}) >= ways:
            found.append(line)
        last[line] = t
    return found


@mutant("cost.cache.missed")
def searches_the_whole_table(lines, sets, ways):
    """The whole cache is one array, and all of it is searched."""
    held, when, found = np.full((sets, ways), -1), np.zeros((sets, ways), int), []
    for now, line in enumerate(lines, 1):
        there = np.argwhere(held == line)
        row, way = there[0] if len(there) else (line % sets, when[line % sets].argmin())
        if not len(there):
            found.append(line)
        held[row, way], when[row, way] = line, now
    return found


@mutant("cost.cache.missed")
def searches_the_whole_history(lines, sets, ways):
    """An array of all accesses, and its beginning is searched."""
    asked, found = np.asarray(lines, np.int64), []
    for t, line in enumerate(lines):
        here = np.flatnonzero(asked[:t] == line)
        since = asked[here[-1] + 1 : t] if len(here) else None
        if since is None or len(np.unique(since[since % sets == line % sets])) >= ways:
            found.append(line)
    return found


@alternative("cost.cache.missed")
def registers(lines, sets, ways):
    """The misses, right and quick: one register after the other, of all sets at once."""
    asked = np.asarray(lines, np.int64)
    rest = np.argsort(asked % sets, kind="stable")  # accesses that no register had so far
    put = asked[rest]  # what each of them puts into the next register
    for _ in range(ways):
        held, of = np.roll(put, 1), asked[rest] % sets
        held[np.append(True, of[1:] != of[:-1])[: len(of)]] = -1  # the first of its set
        missed = held != asked[rest]
        rest, put = rest[missed], held[missed]
    return asked[np.sort(rest)].tolist()


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
