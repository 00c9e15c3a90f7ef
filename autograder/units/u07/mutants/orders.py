"""Answers to u07.orders, wrong and right. Next room: cache.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from autograder.units.u07.checks import lines_of

ONCE = "n * n // 16 if middle == column else n * n"
mutants(
    "u07.orders",
    a_row_survives_a_column=(" or inner == 'k'", ""),
    every_element_is_a_line=("n ** 3 // 16 if", "n ** 3 if"),
    # a row of 32 has two lines; one of 48 has three
    two_lines_in_a_row=("n ** 3 // 16 if", "2 * n * n if"),
    # neighbouring columns lie in the same lines, but those are gone
    columns_share_lines=("+= n ** 3\n", "+= n ** 3 // 16\n"),
    each_run_fetches_its_element=(ONCE, "n * n"),
    every_matrix_once=lambda order, n: 3 * n * n // 16,
    the_other_way_round=("_, middle, inner", "inner, middle, _"),
    in_bytes=("return lines", "return 64 * lines"),
    # writing brings lines in, too
    one_matrix_forgotten=("('mn', 'mk', 'kn')", "('mk', 'kn')"),
    # right for 32 × 32, and for nothing else
    six_constants=("lines = 0", "lines, n = (0, 32)"),
    # right, but it takes as many steps as there are accesses
    one_access_after_another=(
        *("return lines", "for _ in range(min(n, 128) ** 3):\n        pass\n    return lines"),
    ),
)
alternatives(
    "u07.orders",
    only_what_dominates=("return lines", "import numpy as np\n    return np.int64(1.012 * lines)"),
)


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
    few, more = (sum(lines_of(order, size, size // 2).values()) / size**2 for size in (32, 48))
    return n * n * (few + (more - few) / 16 * (n - 32))


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
