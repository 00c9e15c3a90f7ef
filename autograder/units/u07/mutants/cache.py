"""Answers to cost.cache.missed, wrong and right. Next room: schedules.py."""

from __future__ import annotations

from collections import OrderedDict, deque

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.cost.reuse import distances


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


def _one_by_one(lines, sets, ways, *, hit="moves", victim=0, each=lambda held: held, held=None):
    """The reference with switches. `each` is done to the whole cache at each access."""
    held, found = {} if held is None else held, []
    for line in lines:
        held = each(held)
        here = held.setdefault(line % sets, [])
        if line in here and hit == "moves":
            here.remove(line)
        elif line in here:
            continue
        else:
            found.append(line)
            if len(here) == ways:
                del here[victim]
        here.append(line)
    return found


def _looked_back(lines, sets, ways, before):
    """For each access, `before(lines, t)` is all that came before it."""
    found, last = [], {}
    for t, line in enumerate(lines):
        since = before(lines, t)[last[line] + 1 :] if line in last else None
        if since is None or len({n for n in since if n % sets == line % sets}) >= ways:
            found.append(line)
        last[line] = t
    return found


def _numpys_table(lines, sets, ways):
    """The whole cache is one array, and all of it is searched."""
    held, when, found = np.full((sets, ways), -1), np.zeros((sets, ways), int), []
    for now, line in enumerate(lines, 1):
        there = np.argwhere(held == line)
        row, way = there[0] if len(there) else (line % sets, when[line % sets].argmin())
        if not len(there):
            found.append(line)
        held[row, way], when[row, way] = line, now
    return found


def _numpys_history(lines, sets, ways):
    """An array of all accesses, and its beginning is searched."""
    asked, found = np.asarray(lines, np.int64), []
    for t, line in enumerate(lines):
        here = np.flatnonzero(asked[:t] == line)
        since = asked[here[-1] + 1 : t] if len(here) else None
        if since is None or len(np.unique(since[since % sets == line % sets])) >= ways:
            found.append(line)
    return found


def _hits(lines, sets, ways):
    gone, hits = registers(lines, sets, ways), []
    for line in lines:
        if gone and gone[0] == line:
            gone.pop(0)
        else:
            hits.append(line)
    return hits


def _by_the_quotient(lines, sets, ways):
    """The set is that of line // sets."""
    numbers = [line // sets % sets + sets * line for line in lines]
    return [n // sets for n in registers(numbers, sets, ways)]


_kept = {}
WRONG = {
    "first_in_first_out": lambda l, s, w: _one_by_one(l, s, w, hit="stays"),
    "the_latest_leaves": lambda l, s, w: _one_by_one(l, s, w, victim=-1),
    "fully_associative": lambda l, s, w: registers(l, 1, s * w),
    "one_way": lambda l, s, w: registers(l, s * w, 1),
    "each_line_once": lambda l, s, w: list(dict.fromkeys(registers(l, s, w))),
    "the_hits": _hits,
    "a_way_too_many": lambda l, s, w: registers(l, s, w + 1),
    "eight_ways_at_most": lambda l, s, w: registers(l, s, min(w, 8)),
    "sixteen_sets_at_most": lambda l, s, w: registers(l, min(s, 16), w),
    "sets_by_the_lowest_bits": lambda l, s, w: registers(l, 1 << (s.bit_length() - 1), w),
    "sets_by_the_upper_part": _by_the_quotient,
    "lines_of_32_bits": lambda l, s, w: np.asarray(registers(l, s, w)).astype(np.int32).tolist(),
    "counts_them": lambda l, s, w: len(registers(l, s, w)),
    "sorts_them": lambda l, s, w: sorted(registers(l, s, w)),
    "the_cache_stays_full": lambda l, s, w: _one_by_one(l, s, w, held=_kept.setdefault((s, w), {})),
    "slices_what_came_before": lambda l, s, w: _looked_back(l, s, w, lambda l, t: l[:t]),
    "copies_the_cache": lambda l, s, w: _one_by_one(l, s, w, each=dict),
    "searches_the_whole_table": _numpys_table,
    "searches_the_whole_history": _numpys_history,
}
for _name, _wrong in WRONG.items():
    _wrong.__name__ = _name
    mutant("cost.cache.missed")(_wrong)


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


alternative("cost.cache.missed")(registers)
