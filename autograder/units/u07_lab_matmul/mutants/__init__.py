"""Wrong and right answers of the lab of unit 7. Most are ours with a line of its C++ changed.

Here: the textbook's loops and the tiles. Next room: packing.py.
"""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, mutant, mutants

# ── the textbook's loops ──

STORE = "out[m * N + n] = sum;"
mutants(
    "u07_lab_matmul.naive",
    adds_to_what_was_there=(STORE, "out[m * N + n] += sum;"),
    sums_in_out=("float sum = 0;", "out[m * N + n] = 0;", "sum += x", "out[m * N + n] += x",
                 STORE, ""),
    one_sum_for_all=("float sum = 0;", "", "void matmul(", "static float sum = 0; void matmul("),
    column_by_column=("for (long m = 0; m < M; ++m)", "for (long n = 0; n < N; ++n)",
                      "for (long n = 0; n < N; ++n) {", "for (long m = 0; m < M; ++m) {"),
    w_transposed=("w[k * N + n]", "w[n * K + k]"),
    begins_with_the_first_product=("float sum = 0;", "float sum = x[m * K] * w[n];",
                                   "long k = 0", "long k = 1"),
    whole_numbers=("float sum", "long sum"),
    another_name=("void matmul", "void product"),
    reads_x_twice=("sum += x[m * K + k]", "if (x[m * K + k] != 0) sum += x[m * K + k]"),
)  # fmt: skip
alternatives(
    "u07_lab_matmul.naive",
    a_double=lambda: NAIVE.format(type="double", x="x[m * K + k]", w="w[k * N + n]"),
    pointers=lambda: NAIVE.format(type="float", x="*(x + m * K + k)", w="(w + k * N)[n]"),
    number_first=lambda: NAIVE.format(type="float", x="(m * K + x)[k]", w="*(k * N + (w + n))"),
)
NAIVE = """
void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K) {{
  for (long m = 0; m < M; m++)
    for (long n = 0; n < N; n++) {{
      {type} sum = 0;
      for (long k = 0; k < K; k++) sum = sum + {x} * {w};
      out[m * N + n] = sum;
    }}
}}
"""


@mutant("u07_lab_matmul.naive")
def sums_of_a_line_at_a_time():
    return """
void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K) {
  for (long m = 0; m < M; ++m)
    for (long n = 0; n < N; n += 16) {
      float sums[16] = {};
      long columns = std::min(16L, N - n);
      for (long k = 0; k < K; ++k)
        for (long j = 0; j < columns; ++j) sums[j] += x[m * K + k] * w[k * N + n + j];
      for (long j = 0; j < columns; ++j) out[m * N + n + j] = sums[j];
    }
}
"""


@alternative("u07_lab_matmul.naive")
def with_a_function_for_a_row():
    return """
static float dot(Matrix row, Matrix column, int K, int N) {
  float sum = 0;
  while (K-- > 0) { sum += *row++ * *column; column += N; }
  return sum;
}
void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K) {
  for (int i = 0; i < M * N; ++i)
    out[i] = dot(x + i / N * K, w + i % N, K, N);
}
"""


@alternative("u07_lab_matmul.naive")
def walks_to_an_end():
    return """
void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K) {
  Matrix at = out, end = out + M * N;
  for (Matrix row = x; at != end; row += K)
    for (long n = 0; n < N; ++n, ++at) {
      float sum = 0;
      Matrix column = w + n + K * N;
      for (Matrix one = row + K; one > row; sum += *--one * *column) column -= N;
      *at = sum;
    }
}
"""


# ── tiles ──

DEPTH = "L1 / 2 / (4 * COLUMNS);"
HEIGHT = "L2 / 2 / (4 * depth) / ROWS * ROWS;"
TILE = "ROWS = 6, COLUMNS = 16"
PUT = "begin == 0 ? sums[i][j] : out[at] + sums[i][j];"
TOP, OVER_N = "for (long top = 0; top < M; top += height)", "for (long n = 0; n < N; n += COLUMNS)"
OVER_M = "for (long m = top; m < std::min(top + height, M); m += ROWS)"
mutants(
    "u07_lab_matmul.tiled",
    registers_alone=(DEPTH, "std::max(K, 1L);", HEIGHT, "M;"),
    without_the_second_cache=(HEIGHT, "M;"),
    without_the_first_cache=(DEPTH, "std::max(1L, L2 / 8 / N);", HEIGHT, "M;"),
    the_whole_first_cache=(DEPTH, "L1 / (4 * COLUMNS);"),
    # what stays in the first cache are 6 rows of x, and w streams by
    the_narrow_strip_stays=(TOP, "for (long left = 0; left < N; left += height)",
                            OVER_N, "for (long m = 0; m < M; m += ROWS)",
                            OVER_M, "for (long n = left; n < std::min(left + height, N); "
                            "n += COLUMNS)",
                            "/ ROWS * ROWS; //", "/ COLUMNS * COLUMNS; //"),
    strips_of_half_a_line=(TILE, "ROWS = 12, COLUMNS = 8"),
    a_tile_of_two_rows=(TILE, "ROWS = 2, COLUMNS = 16"),
    more_sums_than_registers=(TILE, "ROWS = 10, COLUMNS = 16"),
    no_rest_of_rows=("rows = std::min(ROWS, M - m)", "rows = ROWS"),
    no_rest_of_columns=("columns = std::min(COLUMNS, N - n)", "columns = COLUMNS"),
    nothing_without_k=("k == 0 || k < K", "k < K"),
    the_last_block_of_k=(PUT, "sums[i][j];"),
    no_block_in_small_caches=(HEIGHT, "(L2 - 2 * L1) / (4 * depth) / ROWS * ROWS;",
                              TOP, TOP.replace("top < M", "top <= (M - 1) / height * height")),
    a_strip_in_an_array_of_any_size=("row[COLUMNS] = {};",
                                     "strip[(end - begin) * COLUMNS + 1], *row = strip;"),
)  # fmt: skip


@mutant("u07_lab_matmul.tiled")
def blocks_without_a_tile_of_sums():
    return """
void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K, long L1, long L2) {
  const long B = 16;
  for (long i = 0; i < M * N; ++i) out[i] = 0;
  for (long mo = 0; mo < M; mo += B) for (long no = 0; no < N; no += B)
    for (long ko = 0; ko < K; ko += B)
      for (long m = mo; m < std::min(mo + B, M); ++m)
        for (long k = ko; k < std::min(ko + B, K); ++k)
          for (long n = no; n < std::min(no + B, N); ++n)
            out[m * N + n] += x[m * K + k] * w[k * N + n];
}
"""


ALTERNATIVE = """
template <typename T> static T less(T a, T b) {{ return a < b ? a : b; }}
void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K, long L1, long L2) {{
  enum {{ R = {rows}, C = 16 }};
  const long kb = {depth}, mb = L2 / 2 / 4 / kb / R * R;
  for (long i = 0; i < M * N; ++i) out[i] = 0;
  {loops}
        for (long n = 0; n < N; n += C)
          for (long m = mo; m < less(mo + mb, M); m += R) {{
            float acc[R * C] = {{}};
            for (long k = ko; k < less(ko + kb, K); k++) {{
              float b[C];
              for (long j = 0; j < C; j++) b[j] = n + j < N ? (float)w[k * N + n + j] : 0.f;
              for (long i = 0; i < R && m + i < M; i++) {{
                const float a = x[(m + i) * K + k];
                for (long j = 0; j < C; j++) acc[i * C + j] += a * b[j];
              }}
            }}
            for (long i = 0; i < less((long)R, M - m); i++)
              for (long j = 0; j < less((long)C, N - n); j++)
                out[(m + i) * N + n + j] += acc[i * C + j];
          }}
}}
"""
KO, MO = "for (long ko = 0; ko < K; ko += kb)", "for (long mo = 0; mo < M; mo += mb)"
alternatives(
    "u07_lab_matmul.tiled",
    zeros_first=lambda: ALTERNATIVE.format(rows=6, depth="L1 / 128", loops=f"{KO}\n{MO}"),
    all_k_of_a_block=lambda: ALTERNATIVE.format(rows=6, depth="L1 / 128", loops=f"{MO}\n{KO}"),
    sizes_of_these_caches=(DEPTH, "32;", HEIGHT, "60;"),
    four_rows=("ROWS = 6", "ROWS = 4"),
    eight_rows=lambda: ALTERNATIVE.format(rows=8, depth="L1 / 128", loops=f"{KO}\n{MO}"),
)
