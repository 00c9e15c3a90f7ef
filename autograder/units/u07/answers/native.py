"""The product in C++, typed by hand: its misses, by the simulator, and its speed.

    native_table({"as given": "for (long m = 0; ...) ..."})

The text is the body of a function of x, w, out (flat, row-major) and the extents M, N, K. It is
compiled twice: with a type in place of the pointers that checks each index and writes down each
address, so that the simulator counts what the loops touch; and then as it is, to be timed. What the
body declares itself is not counted. Next room: ../checks/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.units.u07.answers.products import matrices, rates, waiting
from course_lib.bridges.gxx import FLAGS, build, compiler
from course_lib.cost.cache import misses_of
from course_lib.cost.trace import LINE, Trace
from course_lib.draw.plots.table import table

COUNTED, TIMED = (48, 96, 96), (288, 288, 288)  # sizes: m, n, k
# What the cells show where there is no g++: misses of the first and the second cache at `COUNTED`,
# and GFLOP/s at `TIMED`, of the text as the notebook gives it. g++ 12.2 on a Xeon.
RECORDED = [["as given", "457,152", "28,224", 14.2, 3.3]]

SOURCE = """
#include <algorithm>
#include <vector>
#ifdef COUNT
static std::vector<long> seen;
static long outside;
struct Row {
  float *data;
  long place, size;
  float &operator[](long i) const {
    if (i < 0 || i >= size) { ++outside; i = 0; }
    seen.push_back(place + 4 * i);
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
  seen.clear();
  outside = 0;
  product({x, 0, M * K}, {w, at_w, K * N}, {out, at_out, M * N}, M, N, K);
  if (outside) return -outside;
  std::copy_n(seen.begin(), std::min<long>(room, seen.size()), to);
  return seen.size();
}
#else
extern "C" long run(float *x, float *w, float *out, long M, long N, long K) {
  product(x, w, out, M, N, K);
  return 0;
}
#endif
"""


def native(body: str) -> Callable[..., np.ndarray]:
    """The loops as machine code: run(x, w) -> out. ValueError with what g++ says."""
    function = build(SOURCE % body, "run")

    def run(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        out = np.zeros((x.shape[0], w.shape[1]), np.float32)
        function(x, w, out, *out.shape, x.shape[1])
        return out

    return run


def touched(body: str, m: int, n: int, k: int) -> Trace:
    """The accesses of the loops to the three matrices, in the order of the program."""
    function = build(SOURCE % body, "traced", ("-DCOUNT", *FLAGS))
    x, w = matrices(m, n, k)
    out = np.zeros((m, n), np.float32)
    starts = np.cumsum([0, *(-(-a.nbytes // LINE) * LINE for a in (x, w))])
    room = np.zeros(8 * m * n * k, np.int64)
    count = function(x, w, out, m, n, k, int(starts[1]), int(starts[2]), room, len(room))
    if count < 0:
        raise ValueError(f"{-count:,} accesses are outside of their matrix")
    if count > len(room):
        raise ValueError(f"{count:,} accesses are more than eight for each multiply-add")
    if not np.allclose(out, x @ w, rtol=1e-3, atol=1e-3):
        raise ValueError("these loops do not compute the product")
    places = {name: range(start, start + array.nbytes) for name, start, array in
              zip(("x", "w", "out"), starts.tolist(), (x, w, out), strict=True)}  # fmt: skip
    return Trace(room[:count], places)


def native_table(bodies: Mapping[str, str]) -> Any:
    """Misses in the two small caches, cycles of waiting, and speed on this processor."""
    heads = ["loops in C++", "misses, cache 1", "cache 2", "waiting (cycles per multiply-add)",
             "GFLOP/s"]  # fmt: skip
    if compiler() is None:
        print("There is no g++ here. These figures were recorded elsewhere, for the text as given.")
        return table(RECORDED, heads)
    seen = {name: touched(body, *COUNTED) for name, body in bodies.items()}
    speeds = rates({name: native(body) for name, body in bodies.items()}, TIMED)
    rows = []
    for name in bodies:
        found = misses_of(seen[name])
        counts = [f"{sum(one.values()):,}" for one in found]
        rows.append([name, *counts, waiting(found, COUNTED), speeds[name] / 1e9])
    return table(rows, heads)
