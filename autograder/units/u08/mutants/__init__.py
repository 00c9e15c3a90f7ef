"""Answers to unit 8: plausible mistakes that every check must catch, other right ones that pass.

Here: iterations that meet. Next room: orders.py.
"""

from __future__ import annotations

from math import ceil, gcd

from autograder.check.framework import alternative, equivalent, mutant

RIGHT = {"a": ("flow", (0, 1), (1, 0)), "b": None, "c": None, "d": ("output", (0, 1), (2, 0)),
         "e": ("anti", (1,), (2,))}  # fmt: skip


@mutant("u08.witnesses")
def the_second_first():
    return {**RIGHT, "a": ("anti", (1, 0), (0, 1))}


@mutant("u08.witnesses")
def read_after_write():
    return {**RIGHT, "a": ("raw", (0, 1), (1, 0))}


@mutant("u08.witnesses")
def the_kind_by_the_text():
    """The read stands first in the statement that runs later."""
    return {**RIGHT, "a": ("anti", (0, 1), (1, 0))}


@mutant("u08.witnesses")
def distances_in_place_of_iterations():
    return {**RIGHT, "a": ("flow", (1, -1), (1, 0))}


@mutant("u08.witnesses")
def beyond_the_bounds():
    return {**RIGHT, "c": ("anti", (0,), (4,))}


@mutant("u08.witnesses")
def neighbours_meet():
    return {**RIGHT, "b": ("anti", (0,), (1,))}


@mutant("u08.witnesses")
def writing_twice_does_no_harm():
    return {**RIGHT, "d": None}


@mutant("u08.witnesses")
def all_kinds_are_flow():
    return {**RIGHT, "e": ("flow", (1,), (2,))}


@mutant("u08.witnesses")
def an_iteration_with_itself():
    return {**RIGHT, "e": ("anti", (3,), (3,))}


@mutant("u08.witnesses")
def only_those_that_depend():
    return {name: pair for name, pair in RIGHT.items() if pair}


@alternative("u08.witnesses")
def other_pairs():
    return {**RIGHT, "a": ("flow", (5, 4), (6, 3)), "d": ("output", (1, 7), (3, 6))}


@alternative("u08.witnesses")
def the_flow_of_e():
    return {**RIGHT, "e": ("flow", (4,), (5,))}


@alternative("u08.witnesses")
def lists_and_plain_numbers():
    return {**{name: pair and [*pair] for name, pair in RIGHT.items()}, "e": ["anti", 1, 2]}


# ── one pair of accesses ──


@mutant("u08.meet")
def only_gcd(a, b, c, d, n):
    if (d - b) % gcd(a, c):
        return None
    step = abs(c // gcd(a, c))
    i = (d - b) // gcd(a, c) * pow(a // gcd(a, c), -1, step) % step
    return (i, (a * i + b - d) // c)


@mutant("u08.meet")
def only_the_first_i(a, b, c, d, n):
    i, j = only_gcd(a, b, c, d, n) or (-1, -1)
    return (i, j) if 0 <= i < n and 0 <= j < n else None


@mutant("u08.meet")
def one_after_another(a, b, c, d, n):
    for i in range(n):
        if (a * i + b - d) % c == 0 and 0 <= (j := (a * i + b - d) // c) < n:
            return (i, j)
    return None


@mutant("u08.meet")
def up_to_n(a, b, c, d, n):
    return _line(a, b, c, d, n + 1)


@mutant("u08.meet")
def the_same_iteration(a, b, c, d, n):
    if a == c:
        return (0, 0) if b == d else None
    i, rest = divmod(d - b, a - c)
    return (i, i) if not rest and 0 <= i < n else None


@mutant("u08.meet")
def yes_or_no(a, b, c, d, n):
    return _line(a, b, c, d, n) is not None


@mutant("u08.meet")
def j_only_grows(a, b, c, d, n):
    """Right as long as both factors have the same sign."""
    return _line(a, b, c, d, n) if a * c > 0 else None


@mutant("u08.meet")
def j_before_i(a, b, c, d, n):
    found = _line(a, b, c, d, n)
    return found and found[::-1]


@mutant("u08.meet")
def an_i_that_is_the_same_gcd_or_not(a, b, c, d, n):
    """Only factors without a common divisor."""
    return _line(a, b, c, d, n) if gcd(a, c) == 1 else None


@mutant("u08.meet")
def by_real_division(a, b, c, d, n):
    """Right until the numbers have more digits than a fraction of the machine."""

    def steps(j, rise):
        return ceil(-j / rise if rise > 0 else (j - (n - 1)) / -rise)

    return _line(a, b, c, d, n, steps)


@mutant("u08.meet")
def rounded_by_adding_almost_one(a, b, c, d, n):
    """The same with a whole number at the end."""

    def steps(j, rise):
        return int(-j / rise + 0.999999) if rise > 0 else -((n - 1 - j) // -rise)

    return _line(a, b, c, d, n, steps)


@mutant("u08.meet")
def a_hundred_steps_along_the_line(a, b, c, d, n):
    """Right where the first pairs in range come soon."""
    first = only_gcd(a, b, c, d, n)
    step, rise = abs(c // gcd(a, c)), a * abs(c // gcd(a, c)) // c
    found = ((first[0] + k * step, first[1] + k * rise) for k in range(100)) if first else ()
    return next(((i, j) for i, j in found if i < n and 0 <= j < n), None)


def _line(a, b, c, d, n, steps=None):
    """The first solution. `steps` are those from one i to the next until j is in its range."""
    g = gcd(a, c)
    if (d - b) % g:
        return None
    step = abs(c // g)
    i = (d - b) // g * pow(a // g, -1, step) % step
    j, rise = (a * i + b - d) // c, a * step // c
    if steps:
        low = steps(j, rise)
    else:
        low = -(j // rise) if rise > 0 else -((n - 1 - j) // -rise)
    i, j = i + max(low, 0) * step, j + max(low, 0) * rise
    return (i, j) if i < n and 0 <= j < n else None


@alternative("u08.meet")
def by_euclid(a, b, c, d, n):
    """x*a + y*c == g, then all solutions i = x*f + k*c/g, j = -(y*f) + k*a/g."""
    x, y, u, v, g, r = 1, 0, 0, 1, a, c
    while r:
        q = g // r
        x, u, y, v, g, r = u, x - q * u, v, y - q * v, r, g - q * r
    if (d - b) % g:
        return None
    i, j, di, dj = x * ((d - b) // g), -y * ((d - b) // g), c // g, a // g
    ks = _between(i, di, n), _between(j, dj, n)
    low, high = max(k[0] for k in ks), min(k[1] for k in ks)
    return (i + low * di, j + low * dj) if low <= high else None


def _between(start, move, n):
    """The first and the last k with 0 <= start + k*move < n."""
    if move > 0:
        return -(start // move), (n - 1 - start) // move
    return -((n - 1 - start) // -move), start // -move


@alternative("u08.meet")
def from_the_last_one(a, b, c, d, n):
    """The largest i that fits, by the largest k."""
    g = gcd(a, c)
    if (b - d) % g:
        return None
    step = abs(c) // g
    i = 0 if step == 1 else (d - b) // g * pow(a // g % step, -1, step) % step
    j, rise = (a * i + b - d) // c, a * step // c
    ks = _between(i, step, n), _between(j, rise, n)
    k = min(k[1] for k in ks)
    return [i + k * step, j + k * rise] if k >= max(k[0] for k in ks) else None


@alternative("u08.meet")
def counted_from_the_end(a, b, c, d, n):
    """With different signs, j runs from its end, so that both move upwards."""
    if (a < 0) != (c < 0):
        found = counted_from_the_end(a, b, -c, d + c * (n - 1), n)
        return found and (found[0], n - 1 - found[1])
    g = gcd(a, c)
    if (d - b) % g:
        return None
    p, q = abs(c // g), abs(a // g)
    i = (d - b) // g * pow(a // g, -1, p) % p
    j = (a * i + b - d) // c
    k = max(0, -(j // q))
    i, j = i + k * p, j + k * q
    return (i, j) if i < n and j < n else None


@alternative("u08.meet")
def by_halving(a, b, c, d, n):
    """The first k with j in its range, by bisection: 40 steps for a trillion."""
    g = gcd(a, c)
    if (d - b) % g:
        return None
    step = abs(c // g)
    i = (d - b) // g * pow(a // g, -1, step) % step
    j, rise = (a * i + b - d) // c, a * step // c
    low, high = 0, n
    while low < high:
        k = (low + high) // 2
        low, high = (low, k) if (j + k * rise) * (1 if rise > 0 else -1) >= (
            0 if rise > 0 else 1 - n) else (k + 1, high)  # fmt: skip
    i, j = i + low * step, j + low * rise
    return (i, j) if i < n and 0 <= j < n else None


@alternative("u08.meet")
def by_the_other_variable(a, b, c, d, n):
    found = _line(c, d, a, b, n)
    return None if found is None else (found[1], found[0])


for old, new in (("gcd(a, c)", "gcd(c, a)"), ("(d - b) % g", "(b - d) % g")):
    equivalent("u08.meet", old, new, because="the divisors are the same")
for new in ("rise >= 0", "rise > -1"):
    equivalent("u08.meet", "rise > 0", new, because="j moves along the line: rise is never 0")
