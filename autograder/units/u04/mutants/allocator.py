"""Answers to unit 4 on the allocator."""

from __future__ import annotations

import bisect

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant

END = float("inf")


def _served(requests, *, below=True, above=True, best=False, split=True, least=lambda r, s: r >= s):
    """A free list with switches: what is joined, which is chosen, what becomes of the rest."""
    free, offsets, rooms = [(0, END)], {}, {}
    for name, size in requests:
        if size > 0:
            fitting = [(r, at) if best else (at, r) for at, r in free if least(r, size)]
            chosen = min(fitting)
            at, room = chosen[::-1] if best else chosen
            free.remove((at, room))
            offsets[name], rooms[name] = at, size
            if room > size and split:
                free.append((at + size, room - size))
            elif room == END:
                free.append((at + size, END))
                rooms[name] = size
            else:
                rooms[name] = room
        else:
            at, size = offsets[name], rooms[name]
            for other in sorted(free):
                if below and other[0] + other[1] == at:
                    free.remove(other)
                    at, size = other[0], other[1] + size
                elif above and at + size == other[0]:
                    free.remove(other)
                    size += other[1]
            free.append((at, size))
        free.sort()
    return offsets


@mutant("u04.allocator")
def joins_nothing(requests):
    return _served(requests, below=False, above=False)


@mutant("u04.allocator")
def joins_only_with_what_lies_below(requests):
    return _served(requests, above=False)


@mutant("u04.allocator")
def joins_only_with_what_lies_above(requests):
    return _served(requests, below=False)


@mutant("u04.allocator")
def takes_the_smallest_block(requests):
    """Best fit."""
    return _served(requests, best=True)


@mutant("u04.allocator")
def gives_the_whole_block_away(requests):
    return _served(requests, split=False)


@mutant("u04.allocator")
def wants_more_than_enough(requests):
    return _served(requests, least=lambda room, size: room > size)


@mutant("u04.allocator")
def never_takes_anything_back(requests):
    return _served([(name, size) for name, size in requests if size > 0])


@mutant("u04.allocator")
def looks_ahead(requests):
    """Places the largest first: a plan, and no allocator."""
    order = sorted((item for item in requests if item[1] > 0), key=lambda item: -item[1])
    at, offsets = 0, {}
    for name, size in order:
        offsets[name] = at
        at += size
    return offsets


@mutant("u04.allocator")
def the_block_that_was_freed_last(requests):
    """The free list as a stack, as small allocators keep it."""
    free, offsets = [(0, END)], {}
    for name, size in requests:
        if size > 0:
            at, room = next(block for block in reversed(free) if block[1] >= size)
            free.remove((at, room))
            offsets[name] = at
            if room > size:
                free.append((at + size, room - size))
        else:
            free.append((offsets[name], -size))
    return offsets


@alternative("u04.allocator")
def with_a_dict_of_ends(requests):
    """Free blocks by where they begin."""
    free, offsets = {0: END}, {}
    for name, size in requests:
        if size > 0:
            at = min(begin for begin, room in free.items() if room >= size)
            room = free.pop(at)
            if room > size:
                free[at + size] = room - size
            offsets[name] = np.int64(at)
            continue
        at, size = int(offsets[name]), -size
        size += free.pop(at + size, 0)
        before = next((b for b, room in free.items() if b + room == at), None)
        if before is None:
            free[at] = size
        else:
            free[before] += size
    return offsets


@alternative("u04.allocator")
def from_what_is_out(requests):
    """No free list: the gaps between the blocks that are out are the free blocks."""
    out, offsets = [], {}
    for name, size in requests:
        if size <= 0:
            out.remove((offsets[name], offsets[name] - size))
            continue
        at = 0
        for begin, end in out:
            if begin - at >= size:
                break
            at = end
        offsets[name] = at
        bisect.insort(out, (at, at + size))
    return offsets


@alternative("u04.allocator")
def in_lines_of_64_bytes(requests):
    """A string of used and free lines, searched for a run."""
    used, offsets = "", {}
    for name, size in requests:
        lines = abs(size) // 64
        if size > 0:
            start = (used + "." * lines).index("." * lines)
            offsets[name] = 64 * start
            used = used.ljust(start + lines, ".")
            used = used[:start] + "#" * lines + used[start + lines :]
        else:
            start = offsets[name] // 64
            used = (used[:start] + "." * lines + used[start + lines :]).rstrip(".")
    return offsets


_EMPTY = "an empty block is never large enough, and joins with what it touches"
equivalent("u04.allocator", "if room > size else []", "if room >= size else []", because=_EMPTY)
equivalent(
    "u04.allocator", "if room > size else []", "[(offset + size, room - size)]", because=_EMPTY
)
for _new in ("if size >= 0:", "if size > 1:", "if size > -1:"):
    equivalent("u04.allocator", "if size > 0:", _new, because="a size is 64 bytes at least")
equivalent("u04.allocator", "= offset", "setdefault(", because="no name asks twice")
equivalent("u04.allocator", "[*free, (", "[(offsets[name], -size), *free]", because="it is sorted")
