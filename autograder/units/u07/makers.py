"""What makes the recording of unit 7, which knows the loops with their gaps filled."""

from __future__ import annotations

from course_lib.maker import in_rows, maker
from lessons.u07.native import TEXTBOOK, native_rows, packing_rows

TILED = """
  for (long ko = 0; ko < K; ko += 96)
    for (long mo = 0; mo < M; mo += 6)
      for (long no = 0; no < N; no += 16) {
        float acc[6][16] = {};
        for (long k = ko; k < ko + 96; ++k)
          for (long m = 0; m < 6; ++m)
            #pragma omp simd
            for (long n = 0; n < 16; ++n)
              acc[m][n] += x[(mo + m) * K + k] * w[k * N + no + n];
        for (long m = 0; m < 6; ++m)
          for (long n = 0; n < 16; ++n)
            out[(mo + m) * N + no + n] += acc[m][n];
      }
"""
PLAIN = TILED.replace("            #pragma omp simd\n", "")
NUMBERS = "copy[no * 96 + k * 16 + n]"  # where a tile finds its numbers of a packed w
PACKED = """
  for (long ko = 0; ko < K; ko += 96) {
    for (long no = 0; no < N; no += 16)
      for (long k = 0; k < 96; ++k)
        for (long n = 0; n < 16; ++n)
          copy[no * 96 + k * 16 + n] = w[(ko + k) * N + no + n];
    for (long mo = 0; mo < M; mo += 6)
      for (long no = 0; no < N; no += 16) {
        float acc[6][16] = {};
        for (long k = 0; k < 96; ++k)
          for (long m = 0; m < 6; ++m)
            #pragma omp simd
            for (long n = 0; n < 16; ++n)
              acc[m][n] += x[(mo + m) * K + ko + k] * ...;
        for (long m = 0; m < 6; ++m)
          for (long n = 0; n < 16; ++n)
            out[(mo + m) * N + no + n] += acc[m][n];
      }
  }
""".replace("...", NUMBERS)  # as in the notebook


@maker("g++", "g++", compared="all but numbers", seconds=15)
def by_gxx() -> dict[str, str]:
    """Misses, waiting and speed of the loops in C++, and what packing is worth."""
    loops = {"textbook": TEXTBOOK, "yours, the gaps filled": PLAIN, "yours, with the pragma": TILED}
    packing = packing_rows({"yours": TILED, "packed": PACKED})
    return {"loops": in_rows(map(_short, native_rows(loops))),
            "packing": in_rows(map(_short, packing))}  # fmt: skip


def _short(row: list) -> list:
    """With three digits of each number that has a fraction."""
    return [float(f"{x:.3g}") if isinstance(x, float) else x for x in row]
