"""The product in C++, typed by hand: its misses, by the simulator, and its speed.

    native_table(TEXTBOOK, "for (long m = 0; m < M; ++m) { ...")

The text is the body of a function of x, w, out (flat, row-major) and the extents M, N, K. It is
compiled twice: with a type in place of the pointers that checks each index and writes down each
address, so that the simulator counts what the loops touch; and then as it is, to be timed. What the
body declares itself is not counted. Both run in processes of their own, where an endless loop costs
a sentence. Next room: ../checks/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.units.u07.answers.products import LARGE, Sizes, matrices, waiting
from course_lib.bridges.gxx import FLAGS, CppError, apart, compiler
from course_lib.cost.cache import misses_of
from course_lib.cost.trace import LINE, Trace
from course_lib.draw.plots.table import table

COUNTED, TIMED = (24, 384, 192), (768, 768, 768)  # sizes: m, n, k
SECONDS = 10  # of processor time for a call
TURNS, REPEAT = 2, 2  # how often each text is started, and how often it is timed each time
# What the cells show where there is no g++: misses of the first and the second cache at `COUNTED`,
# and GFLOP/s at `TIMED`, of the text as the notebook gives it. g++ 12.2 on a Xeon.
RECORDED = [["textbook", "1,784,402", "111,456", 13.9, 1.4]]

TEXTBOOK = """
  for (long m = 0; m < M; ++m)
    for (long n = 0; n < N; ++n)
      for (long k = 0; k < K; ++k)
        out[m * N + n] += x[m * K + k] * w[k * N + n];
"""

SOURCE = """
#include <algorithm>
#include <vector>
#ifdef COUNT
static std::vector<long> seen;
static long outside, count;
struct Row {
  float *data;
  long place, size;
  float &operator[](long i) const {
    if (i < 0 || i >= size) { ++outside; i = 0; }
    if (count++ < (long)seen.capacity()) seen.push_back(place + 4 * i);
    return data[i];
  }
};
#else
using Row = float *__restrict;
#endif

static void product(Row x, Row w, Row out, long M, long N, long K) {
#line 1 "your loops"
%s
}

#ifdef COUNT
extern "C" long traced(float *x, float *w, float *out, long M, long N, long K, long at_w,
                       long at_out, long *to, long room) {
  seen.reserve(room);
  product({x, 0, M * K}, {w, at_w, K * N}, {out, at_out, M * N}, M, N, K);
  if (outside) return -outside;
  std::copy(seen.begin(), seen.end(), to);
  return count;
}
#else
extern "C" long run(float *x, float *w, float *out, long M, long N, long K) {
  std::fill_n(out, M * N, 0.0f);
  product(x, w, out, M, N, K);
  return 0;
}
#endif
"""


def touched(body: str, m: int, n: int, k: int) -> Trace:
    """The accesses of the loops to the three matrices, in the order of the program."""
    function = apart(SOURCE % body, "traced", ("-DCOUNT", *FLAGS), SECONDS)
    x, w = matrices(m, n, k)
    out = np.zeros((m, n), np.float32)
    starts = np.cumsum([0, *(-(-a.nbytes // LINE) * LINE for a in (x, w))])
    room = np.zeros(8 * m * n * k, np.int64)
    count = function(x, w, out, m, n, k, int(starts[1]), int(starts[2]), room, len(room)).value
    if count < 0:
        raise CppError(f"{-count:,} accesses are outside of their matrix.")
    if count > len(room):
        raise CppError(f"{count:,} accesses are more than eight for each multiply-add.")
    _demand(out, x @ w)
    places = {name: range(start, start + array.nbytes) for name, start, array in
              zip(("x", "w", "out"), starts.tolist(), (x, w, out), strict=True)}  # fmt: skip
    return Trace(room[:count], places)


def speeds(bodies: Mapping[str, str], sizes: Sizes = TIMED) -> dict[str, float]:
    """FLOP/s of each, from the processor time of its own process, the best of some runs in turn."""
    x, w = matrices(*sizes)
    out, right = np.zeros((sizes[0], sizes[1]), np.float32), x @ w
    programs = {name: apart(SOURCE % body, "run", FLAGS, SECONDS) for name, body in bodies.items()}
    times: dict[str, list[float]] = {name: [] for name in bodies}
    for _ in range(TURNS):
        for name, program in programs.items():
            ran = program(x, w, out, *sizes, repeat=1 + REPEAT)
            _demand(out, right)
            times[name] += ran.seconds[1:]  # the first one brings the pages in
    return {name: 2 * float(np.prod(sizes)) / min(t) for name, t in times.items()}


def _demand(out: np.ndarray, right: np.ndarray) -> None:
    wrong = ~np.isclose(out, right, rtol=1e-3, atol=1e-3)
    if wrong.any():
        at = ", ".join(map(str, np.argwhere(wrong)[0]))
        raise CppError(
            f"These loops do not compute the product: {wrong.sum():,} of {wrong.size:,} numbers "
            f"are wrong. The first is out[{at}]: {out[wrong][0]:.4g}, not {right[wrong][0]:.4g}."
        )


def native_table(textbook: str, yours: str, tell: Callable[[float], object] | None = None) -> Any:
    """Misses in two caches of usual size, cycles of waiting, and speed on this processor.

    tell     is given how many times as fast yours is, once both have run
    """
    bodies = {"textbook": textbook, "yours": yours}
    heads = ["loops in C++", "misses, cache 1", "cache 2", "waiting (cycles per multiply-add)",
             "GFLOP/s"]  # fmt: skip
    if "..." in yours:
        print("There are dots left to fill in, so yours is not run.")
        del bodies["yours"]
    if compiler() is None:
        print("There is no g++ here. These figures were recorded elsewhere, for the text as given.")
        return table(RECORDED, heads)
    seen = {name: touched(body, *COUNTED) for name, body in bodies.items()}
    speed = speeds(bodies)
    if tell is not None and len(speed) == 2:
        tell(round(speed["yours"] / speed["textbook"], 1))
    rows = []
    for name in bodies:
        found = misses_of(seen[name], LARGE)
        counts = [f"{sum(one.values()):,}" for one in found]
        rows.append([name, *counts, waiting(found, COUNTED), speed[name] / 1e9])
    return table(rows, heads)
