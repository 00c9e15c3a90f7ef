"""Schedules for unit 7: bad ones, refused ones, and good ones in other styles."""

from __future__ import annotations

from autograder.check.framework import alternatives, equivalent, mutants

ROWS, COLUMNS, PROMOTED = "split(m, 6)", "split(n, 16)", "promote(out, ki)"
VECTORS_OF_EIGHT = ("ki, mi, ni)", "ki, mi, nio, nii)",
                    "vectorize(ni)", r"unroll(nio)\nvectorize(nii)")  # fmt: skip
mutants(
    "u07.blocking",
    as_written=lambda *sizes: "",
    # the best of the six orders, and no blocks
    rows_inside=lambda *sizes: "reorder(m, k, n)",
    columns_inside=lambda *sizes: "split(k, 4)\nreorder(n, ko, m, ki)",
    # a tile for the first cache, and none for the registers
    cubes=lambda *sizes: "split(m, 12)\nsplit(n, 16)\nsplit(k, 4)\nreorder(mo, no, ko, mi, ki, ni)",
    packed_for_free=lambda *sizes: "split(n, 16)\nreorder(no, m, k, ni)\npack(w, 1, 16)",
    a_loop_that_is_not_there=("ki, mi, ni)", "ki, m, ni)"),
    # more sums than there are registers are in memory
    all_sums_in_registers=lambda *sizes: (
        "reorder(k, m, n)\nunroll(m)\nvectorize(n)\npromote(out, k)"
    ),
    a_list_of_steps=lambda *sizes: ["split(m, 6)"],
    # registers alone: the whole depth of w goes by for every tile
    one_level=("{depth}", "{k}"),
    # 16 steps of k fill the caches of the example; they do not divide every depth
    sizes_of_the_example=("{depth}", "16"),
    # a tile of sums and packed columns of w, as deep as the product
    one_text_for_all_caches=("{depth}", "{k}", "ko, mo, no", "no, mo, ko", PROMOTED,
                             rf"{PROMOTED}\ncache(w, no)"),
    # a strip of w fills half of the first cache, whatever the second one is
    for_the_first_cache_only=("8 * d * n <= second", "128 * d <= first", "mo, no", "no, mo"),
    # a product may have 16 columns
    a_tile_of_48_columns=(ROWS, "split(m, 4)", COLUMNS, r"split(n, 48)\nsplit(ni, 8)",
                          *VECTORS_OF_EIGHT),
)  # fmt: skip
alternatives(
    "u07.blocking",
    # a strip of x is copied, the panel of w stays in the second cache
    as_gotoblas_packs=(PROMOTED, rf"{PROMOTED}\ncache(x, mo)"),
    with_comments=(ROWS, rf"// sums in registers: 6 rows, 16 lanes\n{ROWS}   // mo, mi"),
    vectors_of_eight=(COLUMNS, rf"{COLUMNS}\nsplit(ni, 8)", *VECTORS_OF_EIGHT),
    four_rows=(ROWS, "split(m, 4)"),
    two_thirds_of_the_second_cache=("8 * d * n", "6 * d * n"),
)

ALIKE = "the points are for the waiting, and a panel a little larger or smaller waits as long"
equivalent("u07.blocking", "depth = max(", "depth = max(", because=ALIKE)
