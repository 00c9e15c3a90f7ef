"""Answers to u07.orders, wrong and right. Next room: cache.py."""

from __future__ import annotations

import functools

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.cost.cache import Cache, misses
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.primitives.reorder import reorder


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


@functools.cache
def _counted(order, size):
    square = f"f32[{size},{size}]"
    text = f"""kernel @p(x: {square}, w: {square}, out: {square}) {{
      for m in 0..{size} {{ for n in 0..{size} {{ for k in 0..{size} {{
        out[m, n] += x[m, k] * w[k, n] }} }} }} }}"""
    kernel = reorder(parse_kernel(text), tuple(order))
    return sum(misses(kernel, [Cache(64 * (size // 2), size // 2)])[0].values())


@alternative("u07.orders")
def by_simulation(order, n):
    """Of a smaller product, whose parts grow with n**2 and n**3."""
    if n <= 48:
        return _counted(order, n)
    a, b = _counted(order, 32), _counted(order, 48)
    cubic = (b / 48**2 - a / 32**2) / 16
    return n * n * (a / 32**2 + cubic * (n - 32))


@alternative("u07.orders")
def only_what_dominates(order, n):
    return np.int64(round(_orders(order, n) * 1.012))


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
