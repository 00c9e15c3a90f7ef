"""Answers to unit 7: plausible mistakes that every check must catch, other right ones that pass.

Here: the cache and the numbers. Next room: schedules.py.
"""

from __future__ import annotations

from collections import OrderedDict, deque

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.cost.cache import Cache, by_distance, misses
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.primitives.reorder import reorder

# ── the six orders ──


def _orders(order, n, *, washed=True, column=None, stays=None, row=None, other=None):
    """The reference with switches."""
    _, middle, inner = order
    lines = 0
    for a, b in ("mn", "mk", "kn"):
        if inner == a:
            lines += n**3 if column is None else column
        elif inner == b:
            again = middle == a or (washed and inner == "k")
            lines += (n**3 // 16 if row is None else row) if again else n * n // 16
        elif middle == b:
            lines += n * n // 16 if stays is None else stays
        else:
            lines += n * n if other is None else other
    return lines


@mutant("u07.orders")
def a_row_survives_a_column(order, n):
    return _orders(order, n, washed=False)


@mutant("u07.orders")
def every_element_is_a_line(order, n):
    return _orders(order, n, row=n**3)


@mutant("u07.orders")
def columns_share_lines(order, n):
    """Neighbouring columns lie in the same lines, but those are gone."""
    return _orders(order, n, column=n**3 // 16)


@mutant("u07.orders")
def each_run_fetches_its_element(order, n):
    return _orders(order, n, stays=n * n)


@mutant("u07.orders")
def every_matrix_once(order, n):
    return 3 * n * n // 16


@mutant("u07.orders")
def the_other_way_round(order, n):
    return _orders(order[::-1], n)


@mutant("u07.orders")
def in_bytes(order, n):
    return 64 * _orders(order, n)


@mutant("u07.orders")
def one_matrix_forgotten(order, n):
    """Writing brings lines in, too."""
    return _orders(order, n) - _orders(order, n, column=0, row=0, stays=0, other=0) - n * n // 16


@mutant("u07.orders")
def six_constants(order, n):
    """Right for 32 × 32, and for nothing else."""
    return _orders(order, 32)


@mutant("u07.orders")
def two_lines_in_a_row(order, n):
    """A row of 32 has two lines; one of 48 has three."""
    return _orders(order, n, row=2 * n * n)


@alternative("u07.orders")
def from_a_table(order, n):
    line, whole, column = n * n / 16, n**3 / 16, n**3
    return {
        "mnk": column + whole + line,
        "mkn": whole + 2 * line,
        "nmk": column + whole + n * n,
        "nkm": 2 * column + n * n,
        "kmn": whole + line + n * n,
        "knm": 2 * column + line,
    }[order]


@alternative("u07.orders")
def by_simulation(order, n):
    """Of a smaller product, whose parts grow with n**2 and n**3."""

    def counted(size):
        square = f"f32[{size},{size}]"
        text = f"""kernel @p(x: {square}, w: {square}, out: {square}) {{
          for m in 0..{size} {{ for n in 0..{size} {{ for k in 0..{size} {{
            out[m, n] += x[m, k] * w[k, n] }} }} }} }}"""
        kernel = reorder(parse_kernel(text), tuple(order))
        return sum(misses(kernel, [Cache(64 * (size // 2), size // 2)])[0].values())

    if n <= 48:
        return counted(n)
    a, b = counted(32), counted(48)
    cubic = (b / 48**2 - a / 32**2) / 16
    return n * n * (a / 32**2 + cubic * (n - 32))


@alternative("u07.orders")
def only_what_dominates(order, n):
    return np.int64(round(_orders(order, n) * 1.012))


# ── the cache ──


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
    return by_distance(list(lines), 1, sets * ways)


@mutant("cost.cache.missed")
def one_way(lines, sets, ways):
    return by_distance(list(lines), sets * ways, 1)


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
    return list(dict.fromkeys(by_distance(list(lines), sets, ways)))


@mutant("cost.cache.missed")
def the_hits(lines, sets, ways):
    missing = by_distance(list(lines), sets, ways)
    hits = []
    for line in lines:
        if missing and missing[0] == line:
            missing.pop(0)
        else:
            hits.append(line)
    return hits


@mutant("cost.cache.missed")
def a_way_too_many(lines, sets, ways):
    return by_distance(list(lines), sets, ways + 1)


@mutant("cost.cache.missed")
def sets_by_the_upper_part(lines, sets, ways):
    """The number of the set from the quotient."""
    inner = [(line // sets % sets, line) for line in lines]
    numbers = [part + sets * line for part, line in inner]
    return [n // sets for n in by_distance(numbers, sets, ways)]


@mutant("cost.cache.missed")
def counts_them(lines, sets, ways):
    return len(by_distance(list(lines), sets, ways))


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
    return by_distance(lines, sets, ways)


# ── reuse distance ──


def _smallest(counts, share, *, beyond=0, new=True, strict=False):
    every = sum(counts.values())
    for size in range(max(counts) + 3):
        gone = sum(n for d, n in counts.items() if (d < 0 and new) or d >= size + beyond)
        if gone < share * every or (not strict and gone == share * every):
            return size
    return size


@mutant("u07.smallest")
def the_distance_itself(counts, share):
    return max(0, _smallest(counts, share) - 1)


@mutant("u07.smallest")
def without_the_first_ones(counts, share):
    return _smallest(counts, share, new=False)


@mutant("u07.smallest")
def fewer_than_the_share(counts, share):
    return _smallest(counts, share, strict=True)


@mutant("u07.smallest")
def the_largest_distance(counts, share):
    return max(counts) + 1


@mutant("u07.smallest")
def the_share_of_hits(counts, share):
    return _smallest(counts, 1 - share)


@mutant("u07.smallest")
def one_line_at_least(counts, share):
    return max(1, _smallest(counts, share))


@mutant("u07.smallest")
def a_count_of_accesses(counts, share):
    return share * sum(counts.values())


@alternative("u07.smallest")
def by_the_share_of_hits(counts, share):
    """Another rounding."""
    every = sum(counts.values())
    hits = 0
    for size in range(max(counts) + 2):
        if hits / every >= 1 - share:
            return size
        hits += counts.get(size, 0)
    return size


@alternative("u07.smallest")
def by_bisection(counts, share):
    low, high = 0, max(counts) + 1
    allowed = share * sum(counts.values())
    while low < high:
        half = (low + high) // 2
        if sum(n for d, n in counts.items() if d < 0 or d >= half) <= allowed:
            high = half
        else:
            low = half + 1
    return low


@alternative("u07.smallest")
def from_the_far_end(counts, share):
    left = share * sum(counts.values()) - counts.get(-1, 0)
    for distance in sorted((d for d in counts if d >= 0), reverse=True):
        left -= counts[distance]
        if left < 0:
            return float(distance + 1)
    return 0


@alternative("u07.smallest")
def one_after_another(counts, share):
    return np.int64(_smallest(counts, share))


# ── the register tile ──


def _tile(registers, needs, cost=lambda r, v: (r + v) / (r * v)):
    fitting = [(r, v) for r in range(1, registers + 1) for v in range(1, registers + 1)
               if needs(r, v) <= registers]  # fmt: skip
    return min(fitting, key=lambda tile: cost(*tile)) if fitting else (1, 1)


@mutant("u07.register_tile")
def sums_alone(registers):
    return _tile(registers, lambda r, v: r * v)


@mutant("u07.register_tile")
def a_register_for_each_row(registers):
    return _tile(registers, lambda r, v: r * v + v + r)


@mutant("u07.register_tile")
def as_many_sums_as_fit(registers):
    return _tile(registers, lambda r, v: r * v + v + 1, lambda r, v: -r * v)


@mutant("u07.register_tile")
def two_vectors_as_ours(registers):
    return max((registers - 3) // 2, 1), 2 if registers > 4 else 1


@mutant("u07.register_tile")
def the_other_way(registers):
    rows, vectors = _tile(registers, lambda r, v: r * v + v + 1)
    return vectors, rows


@mutant("u07.register_tile")
def a_square(registers):
    side = max(int((registers - 2) ** 0.5) - 1, 1)
    return side, side


@mutant("u07.register_tile")
def the_loads(registers):
    rows, vectors = _tile(registers, lambda r, v: r * v + v + 1)
    return (rows + vectors) / (rows * vectors)


@alternative("u07.register_tile")
def by_widths(registers):
    best = None
    for vectors in range(1, registers):
        rows = (registers - 1 - vectors) // vectors
        if rows >= 1 and (best is None or 1 / rows + 1 / vectors < 1 / best[0] + 1 / best[1]):
            best = [rows, vectors]
    return best


@alternative("u07.register_tile")
def the_last_of_the_best(registers):
    fitting = [(v, r) for r in range(1, 70) for v in range(1, 70) if r * v + v + 1 <= registers]
    vectors, rows = min(reversed(fitting), key=lambda t: round((t[0] + t[1]) / (t[0] * t[1]), 9))
    return np.array([rows, vectors])


@alternative("u07.register_tile")
def as_floats(registers):
    rows, vectors = _tile(registers, lambda r, v: r * v + v + 1)
    return float(rows), np.int64(vectors)


# ── the bad width ──


@mutant("u07.bad_width")
def a_power_of_two(sets, ways):
    return 64


@mutant("u07.bad_width")
def the_lines_of_a_way(sets, ways):
    """In lines and not in elements."""
    return max(sets, 16)


@mutant("u07.bad_width")
def the_whole_cache_in_bytes(sets, ways):
    return sets * ways * 64 + 16


@mutant("u07.bad_width")
def half_of_the_sets(sets, ways):
    return 8 * sets


@mutant("u07.bad_width")
def one_line_more(sets, ways):
    return 16 * (sets + 1)


@mutant("u07.bad_width")
def very_wide(sets, ways):
    return 16 * sets << 20


@alternative("u07.bad_width")
def twice_as_wide(sets, ways):
    return 32 * sets


@alternative("u07.bad_width")
def always_the_widest(sets, ways):
    return 65_536


@alternative("u07.bad_width")
def tried_out(sets, ways):
    width = 16
    while (
        len(by_distance([width // 16 * r for r in range(ways + 1)] * 2, sets, ways)) < 2 * ways + 2
    ):
        width += 16
    return float(width)


TINY = "less than 2 % of the whole, which the text allows"
for _old, _new, _why in [
    ("for row, column in", "for row, column in", "the three parts are added in any order"),
    ("lines = 0", "lines = ", TINY),
    (
        "if middle == row or inner",
        "if middle != row or inner",
        "with n innermost, the middle loop is the row of out or of w: one of the two comes again",
    ),
    ("inner == 'k' else n * n // 16", "else n * n // 1", TINY),
    ("n * n // 16 if middle == column", "if middle == column", TINY),
]:
    equivalent("u07.orders", _old, _new, because=_why)

for _old, _new, _why in [
    ("for vectors in range(1, registers)", "reversed(", "which of several best tiles is left open"),
    ("for vectors in range(1, registers)", "[:-1]", "so many vectors leave no room for a sum"),
]:
    equivalent("u07.register_tile", _old, _new, because=_why)

equivalent(
    "u07.bad_width", "apart, line", "(16, sets)", because="the same product, named otherwise"
)
