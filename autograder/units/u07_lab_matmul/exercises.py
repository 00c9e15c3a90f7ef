"""The lab of unit 7: three texts in C++ and a question in words.

The bodies are our answers and never ship. What counts and times them stands in lessons.
Next room: lessons/u07_lab_matmul/counting.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u07_lab_matmul.naive", unit=7, lab="matmul", points=2)
def naive() -> str:
    """The product of two matrices as a textbook writes it, as the text of a C++ function.

    The text defines

        void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K)

    which makes `out` the product of `x` (M × K) and `w` (K × N). M and N are at least 1. K may be
    0, and then `out` is all zeros. What `out` held before must not matter.

    The elements of `out` are computed one after the other, row by row. Each sum is kept in a
    variable, so each element of `out` is written once and never read. Each multiply-add reads one
    number of `x` and one of `w`.
    """
    return """
    void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K) {
      for (long m = 0; m < M; ++m)
        for (long n = 0; n < N; ++n) {
          float sum = 0;
          for (long k = 0; k < K; ++k)
            sum += x[m * K + k] * w[k * N + n];
          out[m * N + n] = sum;
        }
    }
    """


@exercise("u07_lab_matmul.tiled", unit=7, lab="matmul", points=5)
def tiled() -> str:
    """The same product in tiles, for registers and two caches, as the text of a C++ function.

    The text defines

        void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K, long L1, long L2)

    L1 and L2 are the sizes of the two caches in bytes: L1 is at least 4,096, and L2 is at least
    twice L1. The function is right for all sizes that `naive` takes.

    What moves into the registers, into the first cache and into the second one is counted. Each may
    get twice the least, which is 2·M·N·K/√S numbers where it holds S, and in addition each number
    of the three matrices once. The registers hold 128 numbers, and an array of your own has a
    constant size of at most 128. An access brings one number into a register, and a miss brings 16
    into a cache. This is counted with caches of 4,096 and 16,384 bytes, of 8 ways each, where N and
    K are odd multiples of 16.
    """
    return """
    const long ROWS = 6, COLUMNS = 16;

    // Adds the products of k from `begin` to `end` to the tile of out at (m, n).
    static void tile(Matrix x, Matrix w, Matrix out, long m, long n, long begin, long end,
                     long M, long N, long K) {
      long rows = std::min(ROWS, M - m), columns = std::min(COLUMNS, N - n);
      float sums[ROWS][COLUMNS] = {}, row[COLUMNS] = {};
      for (long k = begin; k < end; ++k) {
        for (long j = 0; j < columns; ++j)
          row[j] = w[k * N + n + j];
        for (long i = 0; i < rows; ++i) {
          float value = x[(m + i) * K + k];
          #pragma omp simd
          for (long j = 0; j < COLUMNS; ++j)
            sums[i][j] += value * row[j];
        }
      }
      for (long i = 0; i < rows; ++i)
        for (long j = 0; j < columns; ++j) {
          long at = (m + i) * N + n + j;
          out[at] = begin == 0 ? sums[i][j] : out[at] + sums[i][j];
        }
    }

    void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K, long L1, long L2) {
      long depth = L1 / 2 / (4 * COLUMNS);              // a strip of w fills half of cache 1
      long height = L2 / 2 / (4 * depth) / ROWS * ROWS; // a block of x, half of cache 2
      for (long k = 0; k == 0 || k < K; k += depth)
        for (long top = 0; top < M; top += height)
          for (long n = 0; n < N; n += COLUMNS)
            for (long m = top; m < std::min(top + height, M); m += ROWS)
              tile(x, w, out, m, n, k, std::min(k + depth, K), M, N, K);
    }
    """


_PACK = """
// Copies `lines` lines of `count` numbers: number i of all of them, then number i + 1. Where
// fewer than `width` lines are there, the rest is zeros.
static void pack(Matrix from, long lines, long apart, long count, long step, Matrix to,
                 long width) {
  for (long i = 0; i < count; ++i)
    for (long j = 0; j < width; ++j)
      to[i * width + j] = j < lines ? from[j * apart + i * step] : 0.0f;
}
"""


@exercise("u07_lab_matmul.packed", unit=7, lab="matmul", points=5)
def packed() -> str:
    """The tiled product with its operands copied into the order of use, as the text of a function.

    The text defines

        void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K, long L1, long L2,
                    Matrix room)

    `room` is memory for the copies: as many numbers as `x` and `w` would have with 32 more rows of
    `x` and 32 more columns of `w`. It holds no numbers at first. All that was said of sizes, caches
    and registers for `tiled` holds here, too.

    Each number of `x` and of `w` is read once, to be copied. The multiply-adds read the copies from
    front to back, in two walks: of 100 reads of `room`, at most two do not lie right after the
    latest read of one of the walks. Each level may get twice the least, and in addition each number
    of the three matrices twice. This is counted with the same caches, where N is an even multiple
    of 16, and K is a multiple of 16.
    """
    rest = """
    const long ROWS = 6, COLUMNS = 16;

    // Adds the product of two strips, ROWS rows of x and COLUMNS columns of w, to a tile of out.
    static void tile(Matrix x, Matrix w, long depth, Matrix out, long rows, long columns, long N,
                     bool first) {
      float sums[ROWS][COLUMNS] = {}, row[COLUMNS];
      for (long k = 0; k < depth; ++k) {
        for (long j = 0; j < COLUMNS; ++j) row[j] = w[k * COLUMNS + j];
        for (long i = 0; i < ROWS; ++i) {
          float value = x[k * ROWS + i];
          #pragma omp simd
          for (long j = 0; j < COLUMNS; ++j) sums[i][j] += value * row[j];
        }
      }
      for (long i = 0; i < rows; ++i)
        for (long j = 0; j < columns; ++j)
          out[i * N + j] = first ? sums[i][j] : out[i * N + j] + sums[i][j];
    }

    void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K, long L1, long L2,
                Matrix room) {
      long most = L1 / 2 / (4 * COLUMNS), height = L2 / 2 / (4 * most) / ROWS * ROWS;
      Matrix block = room, panel = room + (std::min(height, M) + ROWS) * std::min(most, K);
      for (long k = 0; k == 0 || k < K; k += most) {
        long depth = std::min(most, K - k);
        for (long n = 0; n < N; n += COLUMNS)
          pack(w + k * N + n, std::min(COLUMNS, N - n), 1, depth, N, panel + n * depth, COLUMNS);
        for (long top = 0; top < M; top += height) {
          long bottom = std::min(top + height, M);
          for (long m = top; m < bottom; m += ROWS)
            pack(x + m * K + k, std::min(ROWS, bottom - m), K, depth, 1, block + (m - top) * depth,
                 ROWS);
          for (long n = 0; n < N; n += COLUMNS)
            for (long m = top; m < bottom; m += ROWS)
              tile(block + (m - top) * depth, panel + n * depth, depth, out + m * N + n,
                   std::min(ROWS, bottom - m), std::min(COLUMNS, N - n), N, k == 0);
        }
      }
    }
    """
    return _PACK + rest


@exercise("u07_lab_matmul.conclusion", unit=7, lab="matmul", points=3, kind="explain")
def conclusion() -> Rubric:
    """Write your conclusion for a colleague who has not seen your loops, in four to eight sentences
    with numbers from your last tables. By how much did each of the two steps, tiles and packing,
    reduce the counts, and how much did it gain in speed? Where the two do not agree, what takes
    time that the counts leave out? What makes the difference between your fastest loops and numpy's
    product, and what would you try next?
    """
    return Rubric(
        criteria="1 point: both steps with numbers of the answer's own table, counts and rates. "
        "Half a point for one of them, or without numbers. "
        "1 point: a reason for a difference between counts and clock that fits the numbers: "
        "instructions (vector code, or shuffles and the stack in its place, or the edges of a "
        "tile), lines fetched ahead, waiting hidden behind other work, a second cache of another "
        "size, address translation. "
        "1 point: what makes the difference to numpy, and one next step that addresses it: a tile "
        "for the vector registers of this processor, unrolling along k, prefetching, blocks for "
        "its caches, a tile in assembly. Half a point for a step without a reason.",
        samples=(
            Sample(3, "Tiles cut what comes into the first cache from 17 numbers for each "
                   "multiply-add to 0.12, and took the rate from 1.5 to 26 GFLOP/s. At 256 "
                   "columns, packing halved what comes into the second cache, but the rate "
                   "tripled, to 74. Most of that is no matter of caches: the copies are filled up "
                   "with zeros, so the tile has no edges, and g++ makes plain vector loads of the "
                   "loop that copies a row. numpy has 135. Its tile is wider, because this "
                   "processor has 32 registers of 16 numbers; I would try 12 × 32 next and look at "
                   "the assembly for spills."),
            Sample(2, "With tiles, 145 times fewer numbers come into the first cache, and the "
                   "loops are 18 times as fast; packing gave three times more, although at 112 "
                   "columns even more numbers move. The processor fetches ahead, which the "
                   "simulator does not do. numpy is still almost twice as fast because it is "
                   "better optimized."),
            Sample(0, "Tiling and packing use the cache better, so everything is faster."),
        ),
    )  # fmt: skip
