"""Many sectored caches at once: which sectors of each request are there when it comes.

    found = present(group, line, mask, ways=32)

A line of 128 bytes has four sectors, each of which is there or not; a request is for some sectors
of one line, as bits. A group is a set of a cache: the line that was asked for longest ago leaves it
when all of its ways are full. Groups know nothing of each other, so that the first requests of all
groups are one operation of numpy, then the second ones, and so on. Requests for the line that their
group was asked for just before change nothing but sectors, and are worked out beforehand. Next
room: `caches.py`.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
SECTORS = 4


def present(group: Array, line: Array, mask: Array, ways: int) -> Array:
    """For each request, the sectors of its line that were in the cache before it, as bits; after it
    those of `mask` are, too. Requests of a group are in the order in which they come.

    group, line  int64, one for each request
    mask         uint8, sectors that are asked for (bits 0 to 3)
    """
    if not len(group):
        return np.zeros(0, np.uint8)
    order = np.argsort(group, kind="stable")
    group, line, mask = group[order], line[order], mask[order]
    starts = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (line[1:] != line[:-1])])
    run = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(group)]))
    whole = np.bitwise_or.reduceat(mask, starts)
    before = _first_of_runs(group[starts], line[starts], whole, ways)
    found = np.zeros(len(group), np.uint8)
    found[order] = before[run] | _within_runs(mask, starts, run)
    return found


def _within_runs(mask: Array, starts: Array, run: Array) -> Array:
    """The sectors that earlier requests of the same run have asked for."""
    at = np.arange(len(mask))
    earlier = np.zeros(len(mask), np.uint8)
    for sector in range(SECTORS):
        asks = (mask >> sector) & 1 == 1
        first = np.minimum.reduceat(np.where(asks, at, len(mask)), starts)
        earlier |= (at > first[run]).astype(np.uint8) << sector
    return earlier


def _first_of_runs(group: Array, line: Array, mask: Array, ways: int) -> Array:
    """The same as `present`, one turn of all groups after the other; groups are in order."""
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    counts = np.diff(np.r_[starts, len(group)])
    row_of = np.repeat(np.arange(len(starts)), counts)
    turn_of = np.arange(len(group)) - np.repeat(starts, counts)
    by_turn = np.argsort(turn_of, kind="stable")
    tags = np.full((len(starts), ways), -1, np.int64)
    valid = np.zeros((len(starts), ways), np.uint8)
    used = np.full((len(starts), ways), -1, np.int32)  # when each way was asked for last
    found = np.zeros(len(group), np.uint8)
    begin = 0
    for turn, count in enumerate(np.bincount(turn_of)):
        now = by_turn[begin : begin + count]
        begin += count
        row, wanted = row_of[now], line[now]
        hit = tags[row] == wanted[:, None]
        way = np.where(hit.any(axis=1), hit.argmax(axis=1), used[row].argmin(axis=1))
        found[now] = np.where(tags[row, way] == wanted, valid[row, way], 0)
        tags[row, way] = wanted
        valid[row, way] = found[now] | mask[now]
        used[row, way] = turn
    return found
