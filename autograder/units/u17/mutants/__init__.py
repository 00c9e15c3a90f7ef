"""Answers to unit 17: plausible mistakes that every check must catch, other right ones that pass.

Here: movement, and a dump. Next room: rows.py.
"""

from __future__ import annotations

from autograder.check.framework import alternative, mutant
from lessons.u17.rows import TYPES

FOLDED = "symbolic+reduce_collapse+debuf"


# ── windows ──


@mutant("u17.windows")
def rows_of_x(n, k):
    """Repeats x, without moving the copies."""
    return f"a = reshape x 1,{n}\nb = expand a {k},{n}\nc = shrink b 0:{k},0:{n - k + 1}\n" \
           "w = permute c 1,0"  # fmt: skip


@mutant("u17.windows")
def the_other_way_round(n, k):
    """(k, n - k + 1) in place of (n - k + 1, k)."""
    return _skewed(n, k, last="")


@mutant("u17.windows")
def one_too_few(n, k):
    """Rows of n - 1: the copies move to the left."""
    if n == 1:
        return "w = reshape x 1,1"
    return (f"a = reshape x 1,{n}\nb = expand a {k},{n}\nc = reshape b {k * n}\n"
            f"d = shrink c 0:{k * (n - 1)}\ne = reshape d {k},{n - 1}\n"
            f"f = pad e 0:0,0:1\ng = shrink f 0:{k},0:{n - k + 1}\nw = permute g 1,0")  # fmt: skip


@mutant("u17.windows")
def pieces_without_overlap(n, k):
    """Windows that do not overlap, repeated until the shape is right."""
    m = n - k + 1
    return f"a = shrink x 0:{k}\nb = reshape a 1,{k}\nw = expand b {m},{k}"


@mutant("u17.windows")
def all_n_rows(n, k):
    """Forgets that the last windows would stick out."""
    return _skewed(n, k, cut=f"0:{k},0:{n}")


@mutant("u17.windows")
def by_addition(n, k):
    """Adds shifted copies, so it computes."""
    m = n - k + 1
    lines = []
    for j in range(k):
        lines.append(f"s{j} = shrink x {j}:{j + m}")
        lines.append(f"r{j} = reshape s{j} {m},1")
        lines.append(f"p{j} = pad r{j} 0:0,{j}:{k - 1 - j}")
    total = "p0"
    for j in range(1, k):
        lines.append(f"t{j} = add {total} p{j}")
        total = f"t{j}"
    return "\n".join(lines)


@mutant("u17.windows")
def large_on_the_way(n, k):
    """Repeats x n times in place of k."""
    return (f"a = reshape x 1,{n}\nb = expand a {n + 1},{n}\nc = reshape b {n + 1}, {n}\n"
            .replace(", ", ",") + f"d = reshape c {(n + 1) * n}\ne = reshape d {n},{n + 1}\n"
            f"f = shrink e 0:{k},0:{n - k + 1}\nw = permute f 1,0")  # fmt: skip


def _skewed(n, k, last="w = permute cut 1,0", cut=""):
    return (f"row = reshape x 1,{n}\nrows = expand row {k},{n}\nflat = reshape rows {k * n}\n"
            f"longer = pad flat 0:{k}\nskew = reshape longer {k},{n + 1}\n"
            f"cut = shrink skew {cut or f'0:{k},0:{n - k + 1}'}\n{last}")  # fmt: skip


@alternative("u17.windows")
def without_the_last_copy(n, k):
    """Cuts the zeros off where they stand: all but the last copy with a row of n + 1."""
    return (f"a = reshape x 1,{n}\nb = expand a {k},{n}\nc = reshape b {k * n}\n"
            f"d = pad c 0:{k}\ne = reshape d {k},{n + 1}\nf = permute e 1,0\n"
            f"w = shrink f 0:{n - k + 1},0:{k}")  # fmt: skip


@alternative("u17.windows")
def one_copy_more(n, k):
    """A copy more in place of the zeros."""
    return (f"a = reshape x 1,{n}\nb = expand a {k + 1},{n}\nc = reshape b {(k + 1) * n}\n"
            f"d = shrink c 0:{k * (n + 1)}\ne = reshape d {k},{n + 1}\n"
            f"f = shrink e 0:{k},0:{n - k + 1}\nw = permute f 1,0")  # fmt: skip


@alternative("u17.windows")
def with_three_axes(n, k):
    """The same trick with an axis more."""
    return (f"a = reshape x 1,1,{n}\nb = expand a 1,{k},{n}\nc = reshape b 1,{k * n}\n"
            f"d = pad c 0:0,0:{k}\ne = reshape d 1,{k},{n + 1}\n"
            f"f = shrink e 0:1,0:{k},0:{n - k + 1}\ng = permute f 0,2,1\n"
            f"w = reshape g {n - k + 1},{k}")  # fmt: skip


@alternative("u17.windows")
def turned_first(n, k):
    """Windows from the end of x, turned round at both ends."""
    return (f"z = flip x 0\nrow = reshape z 1,{n}\nrows = expand row {k},{n}\n"
            f"flat = reshape rows {k * n}\nlonger = pad flat 0:{k}\n"
            f"skew = reshape longer {k},{n + 1}\ncut = shrink skew 0:{k},0:{n - k + 1}\n"
            "t = permute cut 1,0\nw = flip t 0,1")  # fmt: skip


# ── a dump ──


@mutant("u17.culprit")
def the_pass_that_shows_a_kernel():
    return "split kernels", "%5", (-128, 127)


@mutant("u17.culprit")
def a_line_of_another_page():
    return FOLDED, "%4", (0, 255)


@mutant("u17.culprit")
def the_pass_before():
    return "apply rangeify", "%3", (-128, 127)


@mutant("u17.culprit")
def the_comparison():
    """Its bounds are false, but because of another line."""
    return FOLDED, "%9", (0, 1)


@mutant("u17.culprit")
def the_sum():
    return FOLDED, "%8", (-251, 259)


@mutant("u17.culprit")
def the_bounds_of_the_page():
    return FOLDED, "%5", (0, 127)


@mutant("u17.culprit")
def as_a_byte():
    return FOLDED, "%5", (0, 255)


@mutant("u17.culprit")
def numbered_as_on_the_first_page():
    return FOLDED, "%1", (-128, 127)


@alternative("u17.culprit")
def as_a_list():
    return [FOLDED, "%5", [-128, 127]]


@alternative("u17.culprit")
def from_the_limits_of_the_type():
    return FOLDED, "%5", TYPES["int8"]


@alternative("u17.culprit")
def by_all_values():
    taken = [(x + 128) % 256 - 128 for x in range(256)]
    return FOLDED, "%5", (min(taken), max(taken))
