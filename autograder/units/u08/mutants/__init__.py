"""Answers to unit 8: plausible mistakes that every check must catch, other right ones that pass.

Here: iterations that meet. Next room: orders.py.
"""

from __future__ import annotations

from math import gcd

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants

RIGHT = {"a": ("flow", (0, 1), (1, 0)), "b": None, "c": None, "d": ("output", (0, 1), (2, 0)),
         "e": ("anti", (1,), (2,))}  # fmt: skip


mutants(
    "u08.witnesses",
    the_second_first=lambda: {**RIGHT, "a": ("anti", (1, 0), (0, 1))},
    read_after_write=lambda: {**RIGHT, "a": ("raw", (0, 1), (1, 0))},
    # The read stands first in the statement that runs later.
    the_kind_by_the_text=lambda: {**RIGHT, "a": ("anti", (0, 1), (1, 0))},
    distances_in_place_of_iterations=lambda: {**RIGHT, "a": ("flow", (1, -1), (1, 0))},
    beyond_the_bounds=lambda: {**RIGHT, "c": ("anti", (0,), (4,))},
    neighbours_meet=lambda: {**RIGHT, "b": ("anti", (0,), (1,))},
    writing_twice_does_no_harm=lambda: {**RIGHT, "d": None},
    all_kinds_are_flow=lambda: {**RIGHT, "e": ("flow", (1,), (2,))},
    an_iteration_with_itself=lambda: {**RIGHT, "e": ("anti", (3,), (3,))},
    only_those_that_depend=lambda: {name: pair for name, pair in RIGHT.items() if pair},
)
alternatives(
    "u08.witnesses",
    other_pairs=lambda: {**RIGHT, "a": ("flow", (5, 4), (6, 3)), "d": ("output", (1, 7), (3, 6))},
    the_flow_of_e=lambda: {**RIGHT, "e": ("flow", (4,), (5,))},
    lists_and_plain_numbers=lambda: {
        name: ["anti", 1, 2] if name == "e" else pair and [*pair] for name, pair in RIGHT.items()
    },
)


# ── one pair of accesses ──

ANSWER = "return (i, j) if i < n and 0 <= j < n else None"
MOVES = "i, j = (i + max(k, 0) * step, j + max(k, 0) * rise)"
STEPS = "-(j // rise) if rise > 0 else -((n - 1 - j) // -rise)"

mutants(
    "u08.meet",
    only_gcd=(MOVES, "", ANSWER, "return (i, j)"),
    only_the_first_i=(MOVES, ""),
    one_after_another=lambda a, b, c, d, n: next(
        (
            (i, j)
            for i in range(n)
            for j in [(a * i + b - d) // c]
            if a * i + b == c * j + d
            if 0 <= j < n
        ),
        None,
    ),
    up_to_n=("n - 1 - j", "n - j", "i < n", "i <= n", "j < n else", "j <= n else"),
    yes_or_no=(ANSWER, "return i < n and 0 <= j < n", "return None", "return False"),
    # Right as long as both factors have the same sign.
    j_only_grows=("(d - b) % g:", "(d - b) % g or a * c < 0:"),
    j_before_i=("return (i, j)", "return (j, i)"),
    # Only factors without a common divisor.
    an_i_that_is_the_same_gcd_or_not=("(d - b) % g:", "g > 1:"),
    # Right until the numbers have more digits than a fraction of the machine.
    by_real_division=(STEPS, "-int(j / rise // 1) if rise > 0 else -int((n - 1 - j) / -rise // 1)"),
    # The same with a whole number at the end.
    rounded_by_adding_almost_one=("-(j // rise) if", "int(-j / rise + 0.999999) if"),
    # Right where the first pairs in range come soon.
    a_hundred_steps_along_the_line=(STEPS, f"min({STEPS}, 99)"),
)


@mutant("u08.meet")
def the_same_iteration(a, b, c, d, n):
    if a == c:
        return (0, 0) if b == d else None
    i, rest = divmod(d - b, a - c)
    return (i, i) if not rest and 0 <= i < n else None


alternatives(
    "u08.meet",
    # The largest i that fits, by the largest k.
    from_the_last_one=(
        *(STEPS, "min((n - 1 - i) // step, (n - 1 - j) // rise if rise > 0 else j // -rise)"),
        *("return (i, j)", "return [i, j]"),
    ),
    # The other of the two first.
    by_the_other_variable=(
        *("a: int, b: int, c: int, d: int", "c: int, d: int, a: int, b: int"),
        *("return (i, j)", "return (j, i)"),
    ),
)


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
def counted_from_the_end(a, b, c, d, n):
    """With different signs, j runs from its end, so that both move upwards."""
    if (a < 0) != (c < 0):
        pair = counted_from_the_end(a, b, -c, d + c * (n - 1), n)
        return pair and (pair[0], n - 1 - pair[1])
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


for old, new in (("gcd(a, c)", "gcd(c, a)"), ("(d - b) % g", "(b - d) % g")):
    equivalent("u08.meet", old, new, because="the divisors are the same")
for new in ("rise >= 0", "rise > -1"):
    equivalent("u08.meet", "rise > 0", new, because="j moves along the line: rise is never 0")
