"""Answers to unit 11: plausible mistakes that all checks must catch, right ones that pass.

Here: bytes, and a program that breaks a pass. Next room: operations.py.
"""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, mutants

# ── bytes ──

TOTAL = "x * m * k + w * k * n + 4 * m * n"
mutants(
    "u11.moved",
    every_array_once=lambda m, k, n, tm, tn, outer: m * k + k * n + 4 * m * n,
    both_again_for_every_tile=lambda m, k, n, tm, tn, outer: (
        -(-n // tn) * m * k + -(-m // tm) * k * n + 4 * m * n),
    the_other_order=("outer == 'columns'", "outer != 'columns'", "outer == 'rows'",
                     "outer != 'rows'"),
    sums_of_one_byte=("4 * m", "m"),
    whole_tiles_at_the_ends=("x = across", "m, n = (down * tm, across * tn)\n    x = across"),
    tiles_that_fit_only=("across if", "max(1, n // tn) if", "down if", "max(1, m // tm) if"),
    loaded_again_though_it_is_there=(" and down > 1", "", " and across > 1", ""),
    sums_are_loaded_too=("4 * m", "8 * m"),
    loads_only=(" + 4 * m * n", ""),
    in_32_bits=(TOTAL, f"({TOTAL} + 2 ** 31) % 2 ** 32 - 2 ** 31"),
)  # fmt: skip


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
def by_cases(m, k, n, tm, tn, outer):
    sizes = {"x": m * k, "w": k * n}
    tiles = {"x": (n + tn - 1) // tn, "w": (m + tm - 1) // tm}
    inside, outside = ("w", "x") if outer == "rows" else ("x", "w")
    if tiles[outside] > 1:
        sizes[inside] *= tiles[inside]
    return sum(sizes.values()) + 4 * m * n


alternatives("u11.moved", with_ceil=(TOTAL, f"float({TOTAL})"))

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
    text = (f'module attributes {{npu.chip = {{preset = "{chip}"}}}} {{\n'
            f"  func.func @f(%x: {X}, %y: {X}, %z: {X}) {{{views}{''.join(lines)}"
            "    func.return\n  }\n}\n")  # fmt: skip
    return lambda: text


AGAIN = f"    %2 = npu.slot %b[0] [4, 4] : {SLOTS} to {T}\n"
RIGHT = [_load("x", "0"), _store("0", "y"), _load("y", "1"), _store("1", "z")]
HALF = "memref<2x4xi8, #npu.space<acts>>"
W, S = "memref<4x4xi8, #npu.space<weights>>", "memref<4x4xi32, #npu.space<accs>>"
WS, SS = (one.replace("<4x4", "<1x4x4") for one in (W, S))
MORE = f"""
    %ws = npu.buffer : {WS}
    %w = npu.slot %ws[0] [4, 4] : {WS} to {W}
    %ss = npu.buffer : {SS}
    %s = npu.slot %ss[0] [4, 4] : {SS} to {S}
    npu.dma_load %z[0, 0] [4, 4] to %w : {X} to {W}
"""
PRODUCT = f"    npu.matmul %{{}}, %w into %s{{}} : {T}, {W} into {S}\n"
mutants(
    "u11.hazard",
    # The pass looks at slots.
    the_same_slot_twice=_module(*RIGHT[:2], _load("y", "0"), _store("0", "z")),
    two_slots_and_nothing_between=_module(RIGHT[0], _store("0", "z"), *RIGHT[2:]),
    another_view_of_the_slot=_module(AGAIN, *RIGHT[:2], _load("z", "2"), _store("2", "x")),
    what_was_never_loaded=_module(*RIGHT[1:]),
    never_loaded_and_stored_over=_module(RIGHT[3], *RIGHT),
    the_load_comes_first=_module(RIGHT[2], RIGHT[0], RIGHT[1], RIGHT[3]),
    the_wrong_chip=_module(*RIGHT, chip="npu"),
    too_long=_module(*RIGHT * 4),
    not_valid=_module(*RIGHT, views=""),
    no_text=lambda: None,
    # Its sums are stored nowhere.
    multiplies_what_was_never_loaded=_module(MORE, PRODUCT.format(0, " {overwrite}"), *RIGHT),
    adds_to_sums_that_nobody_set=_module(MORE, RIGHT[0], PRODUCT.format(0, ""), *RIGHT[1:]),
)

alternatives(
    "u11.hazard",
    back_into_its_own_array=_module(*RIGHT[:3], _store("1", "x")),
    a_part_of_what_was_stored=_module(
        f"    %2 = npu.slot %b[1] [2, 4] : {SLOTS} to {HALF}\n", *RIGHT[:2],
        f"    npu.dma_load %y[2, 0] [2, 4] to %2 : {X} to {HALF}\n",
        f"    npu.dma_store %2 to %z[0, 0] [2, 4] : {HALF} to {X}\n"),
    # Two layers: the results of the first are the input of the second.
    sums_that_come_back=_module(
        MORE, RIGHT[0], PRODUCT.format(0, " {overwrite}"), *RIGHT[1:3], PRODUCT.format(1, ""),
        RIGHT[3]),
)  # fmt: skip
