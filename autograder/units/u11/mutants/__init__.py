"""Answers to unit 11: plausible mistakes that all checks must catch, right ones that pass.

Here: bytes, and a program that breaks a pass. Next room: operations.py.
"""

from __future__ import annotations

from math import ceil

from autograder.check.framework import alternative, mutant

# ── bytes ──


@mutant("u11.moved")
def every_array_once(m, k, n, tm, tn, outer):
    return m * k + k * n + 4 * m * n


@mutant("u11.moved")
def both_again_for_every_tile(m, k, n, tm, tn, outer):
    return ceil(n / tn) * m * k + ceil(m / tm) * k * n + 4 * m * n


@mutant("u11.moved")
def the_other_order(m, k, n, tm, tn, outer):
    other = "rows" if outer == "columns" else "columns"
    return _right(m, k, n, tm, tn, other)


@mutant("u11.moved")
def sums_of_one_byte(m, k, n, tm, tn, outer):
    return _right(m, k, n, tm, tn, outer) - 3 * m * n


@mutant("u11.moved")
def whole_tiles_at_the_ends(m, k, n, tm, tn, outer):
    return _right(ceil(m / tm) * tm, k, ceil(n / tn) * tn, tm, tn, outer)


@mutant("u11.moved")
def tiles_that_fit_only(m, k, n, tm, tn, outer):
    x = max(1, n // tn) if outer == "columns" and m > tm else 1
    w = max(1, m // tm) if outer == "rows" and n > tn else 1
    return x * m * k + w * k * n + 4 * m * n


@mutant("u11.moved")
def loaded_again_though_it_is_there(m, k, n, tm, tn, outer):
    x = ceil(n / tn) if outer == "columns" else 1
    w = ceil(m / tm) if outer == "rows" else 1
    return x * m * k + w * k * n + 4 * m * n


@mutant("u11.moved")
def sums_are_loaded_too(m, k, n, tm, tn, outer):
    return _right(m, k, n, tm, tn, outer) + 4 * m * n


@mutant("u11.moved")
def loads_only(m, k, n, tm, tn, outer):
    return _right(m, k, n, tm, tn, outer) - 4 * m * n


def _right(m, k, n, tm, tn, outer):
    down, across = ceil(m / tm), ceil(n / tn)
    if outer == "rows":
        return m * k + (down if across > 1 else 1) * k * n + 4 * m * n
    return (across if down > 1 else 1) * m * k + k * n + 4 * m * n


@alternative("u11.moved")
def by_walking(m, k, n, tm, tn, outer):
    """The nest, tile by tile, with what each slot holds."""
    places = [(i, j) for i in range(0, m, tm) for j in range(0, n, tn)]
    if outer == "columns":
        places.sort(key=lambda at: at[::-1])
    total, row, column = 0, None, None
    for i, j in places:
        h, w = min(tm, m - i), min(tn, n - j)
        total += 4 * h * w + (i != row) * h * k + (j != column) * k * w
        row, column = i, j
    return total


@alternative("u11.moved")
def with_ceil(m, k, n, tm, tn, outer):
    return float(_right(m, k, n, tm, tn, outer))


@alternative("u11.moved")
def by_cases(m, k, n, tm, tn, outer):
    sizes = {"x": m * k, "w": k * n}
    tiles = {"x": (n + tn - 1) // tn, "w": (m + tm - 1) // tm}
    inside = "w" if outer == "rows" else "x"
    inner_runs_once = tiles["x" if inside == "w" else "w"] == 1
    again = 1 if inner_runs_once else tiles[inside]
    sizes[inside] *= again
    return sum(sizes.values()) + 4 * m * n


# ── a hazard ──

X, T = "memref<4x4xi8, #npu.space<dram>>", "memref<4x4xi8, #npu.space<acts>>"
SLOTS = "memref<2x4x4xi8, #npu.space<acts>>"
VIEWS = f"""
    %b = npu.buffer : {SLOTS}
    %0 = npu.slot %b[0] [4, 4] : {SLOTS} to {T}
    %1 = npu.slot %b[1] [4, 4] : {SLOTS} to {T}
"""


def _load(array, tile):
    return f"    npu.dma_load %{array}[0, 0] [4, 4] to %{tile} : {X} to {T}\n"


def _store(tile, array):
    return f"    npu.dma_store %{tile} to %{array}[0, 0] [4, 4] : {T} to {X}\n"


def _module(*lines, chip="teaching", views=VIEWS):
    return (f'module attributes {{npu.chip = {{preset = "{chip}"}}}} {{\n'
            f"  func.func @f(%x: {X}, %y: {X}, %z: {X}) {{{views}{''.join(lines)}"
            "    func.return\n  }\n}\n")  # fmt: skip


@mutant("u11.hazard")
def the_same_slot_twice():
    """The pass looks at slots."""
    return _module(_load("x", "0"), _store("0", "y"), _load("y", "0"), _store("0", "z"))


@mutant("u11.hazard")
def two_slots_and_nothing_between():
    return _module(_load("x", "0"), _store("0", "z"), _load("y", "1"), _store("1", "z"))


@mutant("u11.hazard")
def another_view_of_the_slot():
    again = f"    %2 = npu.slot %b[0] [4, 4] : {SLOTS} to {T}\n"
    return _module(again, _load("x", "0"), _store("0", "y"), _load("z", "2"), _store("2", "x"))


@mutant("u11.hazard")
def what_was_never_loaded():
    return _module(_store("0", "y"), _load("y", "1"), _store("1", "z"))


@mutant("u11.hazard")
def never_loaded_and_stored_over():
    return _module(_store("1", "z"), _load("x", "0"), _store("0", "y"), _load("y", "1"),
                   _store("1", "z"))  # fmt: skip


@mutant("u11.hazard")
def the_load_comes_first():
    return _module(_load("y", "1"), _load("x", "0"), _store("0", "y"), _store("1", "z"))


@mutant("u11.hazard")
def the_wrong_chip():
    return _module(_load("x", "0"), _store("0", "y"), _load("y", "1"), _store("1", "z"), chip="npu")


@mutant("u11.hazard")
def too_long():
    twice = [_load("x", "0"), _store("0", "y"), _load("y", "1"), _store("1", "z")]
    return _module(*twice * 4)


@mutant("u11.hazard")
def not_valid():
    return _module(_load("x", "0"), _store("0", "y"), _load("y", "1"), _store("1", "z"), views="")


@mutant("u11.hazard")
def no_text():
    return None


@alternative("u11.hazard")
def back_into_its_own_array():
    return _module(_load("x", "0"), _store("0", "y"), _load("y", "1"), _store("1", "x"))


@alternative("u11.hazard")
def a_part_of_what_was_stored():
    half = "memref<2x4xi8, #npu.space<acts>>"
    piece = f"    %2 = npu.slot %b[1] [2, 4] : {SLOTS} to {half}\n"
    load = f"    npu.dma_load %y[2, 0] [2, 4] to %2 : {X} to {half}\n"
    store = f"    npu.dma_store %2 to %z[0, 0] [2, 4] : {half} to {X}\n"
    return _module(piece, _load("x", "0"), _store("0", "y"), load, store)


@alternative("u11.hazard")
def sums_that_come_back():
    """Two layers: the results of the first are the input of the second."""
    w, s = "memref<4x4xi8, #npu.space<weights>>", "memref<4x4xi32, #npu.space<accs>>"
    ws, ss = (one.replace("<4x4", "<1x4x4") for one in (w, s))
    more = f"""
    %ws = npu.buffer : {ws}
    %w = npu.slot %ws[0] [4, 4] : {ws} to {w}
    %ss = npu.buffer : {ss}
    %s = npu.slot %ss[0] [4, 4] : {ss} to {s}
"""
    return _module(
        more,
        _load("x", "0"),
        f"    npu.dma_load %z[0, 0] [4, 4] to %w : {X} to {w}\n",
        f"    npu.matmul %0, %w into %s {{overwrite}} : {T}, {w} into {s}\n",
        _store("0", "y"),
        _load("y", "1"),
        f"    npu.matmul %1, %w into %s : {T}, {w} into {s}\n",
        _store("1", "z"),
    )
