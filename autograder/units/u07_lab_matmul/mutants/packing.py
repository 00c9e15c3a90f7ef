"""Packed products: copies that are none, that are read across, or that lie over each other."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutant, mutants

MOST, HEIGHT = "most = L1 / 2 / (4 * COLUMNS)", "height = L2 / 2 / (4 * most) / ROWS * ROWS"
PANEL = "panel = room + (std::min(height, M) + ROWS) * std::min(most, K);"
BLOCK = "block = room, "
PUT = "first ? sums[i][j] : out[i * N + j] + sums[i][j];"
TO, ZEROS = "to[i * width + j]", "j < lines ? from[j * apart + i * step] : 0.0f;"
READ = "from[j * apart + i * step]"
PACKS_W = ("for (long n = 0; n < N; n += COLUMNS) pack(w + k * N + n, std::min(COLUMNS, N - n), 1, "
           "depth, N, panel + n * depth, COLUMNS);")  # fmt: skip
BLOCK_OF_X = "long bottom = std::min(top + height, M);"
mutants(
    "u07_lab_matmul.packed",
    registers_alone=(MOST, "most = std::max(K, 1L)", HEIGHT, "height = M"),
    the_whole_first_cache=(MOST, "most = L1 / (4 * COLUMNS)"),
    # the copies have the order of the matrices
    line_after_line=(TO, "to[j * count + i]", "w[k * COLUMNS + j]", "w[j * depth + k]",
                     "x[k * ROWS + i]", "x[i * depth + k]"),
    copies_lie_over_each_other=(PANEL, "panel = room;"),
    packs_x_for_each_strip=("block + (m - top) * depth, panel",
                            "(pack(x + m * K + k, std::min(ROWS, bottom - m), K, depth, 1, block + "
                            "(m - top) * depth, ROWS), block + (m - top) * depth), panel"),
    packs_w_for_each_block_of_x=(BLOCK_OF_X, f"{BLOCK_OF_X} if (top > 0) {PACKS_W}"),
    reads_beyond_the_last_row=(ZEROS, f"{READ};"),
    the_last_block_of_k=(PUT, "sums[i][j];"),
    nothing_without_k=("k == 0 || k < K", "k < K"),
    memory_of_its_own=("Matrix " + BLOCK, "float own[4096]; Matrix " + BLOCK),
)  # fmt: skip


@mutant("u07_lab_matmul.packed")
def only_copies_w_as_it_is():
    return """
void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K, long L1, long L2, Matrix room) {
  for (long i = 0; i < K * N; ++i) room[i] = w[i];
  for (long m = 0; m < M; ++m)
    for (long n = 0; n < N; ++n) {
      float sum = 0;
      for (long k = 0; k < K; ++k) sum += x[m * K + k] * room[k * N + n];
      out[m * N + n] = sum;
    }
}
"""


alternatives(
    "u07_lab_matmul.packed",
    four_rows=("ROWS = 6", "ROWS = 4"),
    # the lanes beyond the edge are computed with whatever is there, and never stored
    nothing_in_place_of_zeros=(f"{TO} = {ZEROS}", f"if (j < lines) {TO} = {READ};"),
    all_panels_stay=("panel + n * depth, COLUMNS)",
                     "panel + n * depth + k * (N + 16) , COLUMNS)",
                     "panel + n * depth, depth", "panel + n * depth + k * (N + 16), depth",
                     PANEL, "panel = room + (M + 32) * K;"),
    panel_first=(BLOCK, "block = room + (N + COLUMNS) * std::min(most, K), ",
                 PANEL, "panel = room;"),
)  # fmt: skip
