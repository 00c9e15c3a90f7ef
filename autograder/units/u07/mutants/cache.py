"""Answers to cost.cache.missed, wrong and right. Next room: schedules.py."""

from __future__ import annotations

from collections import OrderedDict, deque

import numpy as np

from autograder.check.framework import alternative, mutants
from course_lib.cost.reuse import distances

EACH = "for line in lines:"
mutants(
    "cost.cache.missed",
    first_in_first_out=("here.remove(line)", "continue"),
    the_latest_leaves=("del here[0]", "del here[-1]"),
    fully_associative=("line % sets", "0", "== ways", "== sets * ways"),
    one_way=("line % sets", "line % (sets * ways)", "== ways", "== 1"),
    each_line_once=("return fetched", "return list(dict.fromkeys(fetched))"),
    the_hits=("fetched.append(line)", "pass", "here.remove(line)",
              "here.remove(line)\n            fetched.append(line)"),
    a_way_too_many=("== ways", "== ways + 1"),
    eight_ways_at_most=("== ways", "== min(ways, 8)"),
    sixteen_sets_at_most=("line % sets", "line % min(sets, 16)"),
    sets_by_the_lowest_bits=("line % sets", "line % (1 << sets.bit_length() - 1)"),
    sets_by_the_upper_part=("line % sets", "line // sets % sets"),
    lines_of_32_bits=("fetched.append(line)",
                      "fetched.append(int(np.int64(line).astype(np.int32)))"),
    counts_them=("return fetched", "return len(fetched)"),
    sorts_them=("return fetched", "return sorted(fetched)"),
    the_cache_stays_full=("def missed(", "KEPT = {}\n\ndef missed(",
                          "held: dict[int, list[int]] = {}",
                          "held = KEPT.setdefault((sets, ways), {})"),
    copies_the_cache=(EACH, f"{EACH}\n        held = dict(held)"),
    slices_what_came_before=(EACH, "for t, line in enumerate(lines):\n        line in lines[:t]"),
    # the whole cache is one array, or all accesses are, and all of it is searched
    searches_the_whole_table=(EACH, f"table = np.full((sets, ways), -1)\n    {EACH}\n        "
                              "np.argwhere(table == line)"),
    searches_the_whole_history=(EACH, "asked = np.asarray(lines)\n    for t, line in "
                                "enumerate(lines):\n        np.flatnonzero(asked[:t] == line)"),
)  # fmt: skip


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
        if line not in here:
            yield line
        here[line] = True
        here.move_to_end(line)
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
    held, out = {}, []
    for line in lines:
        queue = held.setdefault(line % sets, deque(maxlen=ways))
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
    reuse = distances(asked[by_set])
    gone = np.zeros(len(asked), bool)
    gone[by_set] = (reuse < 0) | (reuse >= ways)
    return asked[gone].tolist()
