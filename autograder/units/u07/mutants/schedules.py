"""Schedules for unit 7: bad ones, refused ones, and good ones in other styles."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant

TILE = "unroll(mi)\nvectorize(ni)\npromote(out, ki)"


def _part(extent, most):
    return max(d for d in range(1, extent + 1) if extent % d == 0 and d <= max(most, 1))


@mutant("u07.blocking")
def as_written(m, n, k, first, second):
    return ""


@mutant("u07.blocking")
def rows_inside(m, n, k, first, second):
    """The best of the six orders, and no blocks."""
    return "reorder(m, k, n)"


@mutant("u07.blocking")
def cubes(m, n, k, first, second):
    """A tile for the first cache, and none for the registers."""
    return "split(m, 12)\nsplit(n, 16)\nsplit(k, 4)\nreorder(mo, no, ko, mi, ki, ni)"


@mutant("u07.blocking")
def packed_for_free(m, n, k, first, second):
    return "split(n, 16)\nreorder(no, m, k, ni)\npack(w, 1, 16)"


@mutant("u07.blocking")
def a_loop_that_is_not_there(m, n, k, first, second):
    return "split(m, 6)\nsplit(n, 16)\nreorder(mo, no, k, m, n)"


@mutant("u07.blocking")
def all_sums_in_registers(m, n, k, first, second):
    """More sums than there are registers are in memory."""
    return "reorder(k, m, n)\nunroll(m)\nvectorize(n)\npromote(out, k)"


@mutant("u07.blocking")
def a_list_of_steps(m, n, k, first, second):
    return ["split(m, 6)"]


@mutant("u07.blocking")
def columns_inside(m, n, k, first, second):
    return "split(k, 4)\nreorder(n, ko, m, ki)"


@mutant("u07.blocking")
def one_level(m, n, k, first, second):
    """Registers alone: the whole depth of w goes by for every tile."""
    return (
        "split(m, 6)\nsplit(n, 16)\nreorder(mo, no, k, mi, ni)\nunroll(mi)\nvectorize(ni)\n"
        "promote(out, k)"
    )


@mutant("u07.blocking")
def sizes_of_the_example(m, n, k, first, second):
    """16 steps of k fill the caches of the example; they do not divide every depth."""
    return f"split(m, 6)\nsplit(n, 16)\nsplit(k, 16)\nreorder(ko, mo, no, ki, mi, ni)\n{TILE}"


@mutant("u07.blocking")
def one_text_for_all_caches(m, n, k, first, second):
    """A tile of sums and packed columns of w, as deep as the product."""
    return (
        "split(m, 6)\nsplit(n, 16)\nreorder(no, mo, k, mi, ni)\nunroll(mi)\nvectorize(ni)\n"
        "promote(out, k)\ncache(w, no)"
    )


@mutant("u07.blocking")
def for_the_first_cache_only(m, n, k, first, second):
    """A strip of w fills half of the first cache, whatever the second one is."""
    depth = _part(k, first // 128)
    return f"split(m, 6)\nsplit(n, 16)\nsplit(k, {depth})\nreorder(ko, no, mo, ki, mi, ni)\n{TILE}"


@mutant("u07.blocking")
def a_tile_of_48_columns(m, n, k, first, second):
    """A product may have 16 columns."""
    depth = _part(k, second // 8 // n)
    return (
        f"split(m, 4)\nsplit(n, 48)\nsplit(ni, 8)\nsplit(k, {depth})\n"
        "reorder(ko, mo, no, ki, mi, nio, nii)\nunroll(mi)\nunroll(nio)\nvectorize(nii)\n"
        "promote(out, ki)"
    )


@alternative("u07.blocking")
def as_gotoblas_packs(m, n, k, first, second):
    """A strip of x is copied, the panel of w stays in the second cache."""
    depth = _part(k, second // 8 // n)
    return (
        f"split(m, 6)\nsplit(n, 16)\nsplit(k, {depth})\nreorder(ko, mo, no, ki, mi, ni)\n"
        f"{TILE}\ncache(x, mo)"
    )


@alternative("u07.blocking")
def with_comments(m, n, k, first, second):
    depth = _part(k, second // 8 // n)
    return f"""// sums in registers: 6 rows, 16 lanes
split(m, 6)   // mo, mi
split(n, 16)
split(k, {depth})
reorder(ko, mo, no, ki, mi, ni)
unroll(mi)
vectorize(ni)
promote(out, ki)"""


@alternative("u07.blocking")
def vectors_of_eight(m, n, k, first, second):
    depth = _part(k, second // 8 // n)
    return (
        f"split(m, 6)\nsplit(n, 16)\nsplit(ni, 8)\nsplit(k, {depth})\n"
        "reorder(ko, mo, no, ki, mi, nio, nii)\nunroll(mi)\nunroll(nio)\nvectorize(nii)\n"
        "promote(out, ki)"
    )


@alternative("u07.blocking")
def four_rows(m, n, k, first, second):
    depth = _part(k, second // 8 // n)
    return f"split(m, 4)\nsplit(n, 16)\nsplit(k, {depth})\nreorder(ko, mo, no, ki, mi, ni)\n{TILE}"


@alternative("u07.blocking")
def two_thirds_of_the_second_cache(m, n, k, first, second):
    depth = _part(k, second // 6 // n)
    return f"split(m, 6)\nsplit(n, 16)\nsplit(k, {depth})\nreorder(ko, mo, no, ki, mi, ni)\n{TILE}"


equivalent(
    "u07.blocking",
    "depth = max(",
    "depth = max(",
    because="the points are for the waiting, and a panel a little larger or smaller waits as long",
)
