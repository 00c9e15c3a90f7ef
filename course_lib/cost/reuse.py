"""Reuse distance: how many different lines were asked for since this one was asked for last.

>>> distances([7, 8, 8, 9, 7, 8])
array([-1, -1,  0, -1,  2,  2])

The third access asks for line 8 right after line 8 (distance 0); the fifth for line 7, and 8 and 9
have come since; -1 means that it is the first time. A cache that keeps the `n` lines asked for last
has a line exactly if its distance is below `n`, so one pass over a program says what every size of
cache would miss. Source: Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for storage
hierarchies", IBM Systems Journal 9(2), 1970. Next room: `cache.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def distances(lines: Sequence[int] | np.ndarray) -> np.ndarray:
    """int64[accesses]: for each access, how many different lines came since the same line; -1 for
    the first access of a line.

    Between an access and the one before of the same line, each line is new once: where its own
    last access lies before that. To count those is to count, for each access, the earlier ones
    that have an earlier last access.
    """
    lines = np.asarray(lines, np.int64)
    last = _last_time(lines)
    return np.where(last < 0, -1, _smaller_before(last) - (last + 1))


def _last_time(lines: np.ndarray) -> np.ndarray:
    """When the same line was asked for last; -1 for never."""
    order = np.argsort(lines, kind="stable")
    same = lines[order[1:]] == lines[order[:-1]]
    last = np.full(len(lines), -1)
    last[order[1:][same]] = order[:-1][same]
    return last


def _smaller_before(keys: np.ndarray) -> np.ndarray:
    """For each position, how many positions before it have a smaller key.

    The positions, in the order of their keys, are parted again and again: into halves, quarters,
    ... of all positions. Whenever two parts of a group separate, each position of the right one
    finds on its left those of the left one that have smaller keys.
    """
    count = len(keys)
    positions, totals, slots = np.argsort(keys, kind="stable"), np.zeros(count, int), range(count)
    for bit in reversed(range(count.bit_length())):
        right = (positions >> bit & 1).astype(bool)
        begin = positions >> (bit + 1) << (bit + 1)  # where the group of this position begins
        smaller = np.cumsum(~right) - begin // 2  # of the left part, so far
        totals[positions[right]] += smaller[right]
        place = np.where(right, np.asarray(slots) - smaller + (1 << bit), begin + smaller - 1)
        parted = np.empty_like(positions)
        parted[place] = positions
        positions = parted
    return totals
