"""Other searches on real kernels: tinygrad's BEAM, run where it is installed, and TVM, recorded.

tinygrad runs in a process of its own, because it reads its settings from the environment when it is
imported. Next room: autograder/units/u09/checks.
"""

from __future__ import annotations

import re
from statistics import median
from typing import Any

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.charts import scatter
from course_lib.draw.plots.figure import Plot
from course_lib.draw.plots.table import table
from course_lib.maker import in_rows, maker
from course_lib.recorded import recorded
from lessons.beam import by_tinygrad

CHILD = r"""
import contextlib, io, json, re, time
from tinygrad import GlobalCounters, Tensor, TinyJit
from tinygrad.helpers import Context
with Context(BEAM=0):
    x, a, b = (Tensor.rand(*s).realize() for s in ((32, 64), (64, 32), (32, 10)))
model = TinyJit(lambda: ((x @ a).relu() @ b).realize())
start, said = time.process_time(), io.StringIO()
with contextlib.redirect_stdout(said), Context(DEBUG=3):
    GlobalCounters.reset()
    model()
    kernels = GlobalCounters.kernel_count
took, least = time.process_time() - start, 1e9
for _ in range(300):
    start = time.perf_counter()
    model()
    least = min(least, time.perf_counter() - start)
text = re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", said.getvalue()).replace("\r", "\n")
opts = re.findall(r"^(\S+) +opts: \((.*)\)", text, re.M)  # a candidate of the search is a test
short = [re.findall(r"OptOps\.(\w+), axis=(\w+), arg=(\w+)", line)
         for name, line in opts if name != "test"]
tried = re.findall(r"s +from +(\d+) -> +\d+ actions", text)  # a round: "20.42us from   5 ->   4"
print(json.dumps({"kernels": kernels, "tried": sum(map(int, tried)), "us": 1e6 * least,
                  "seconds": took,
                  "opts": [["{}({}, {})".format(*o) for o in line] for line in short]}))
"""


def tinygrad(beam: int) -> dict[str, Any] | None:
    """A small perceptron in tinygrad with this width: kernels, microseconds, decisions. None where
    tinygrad or clang is missing."""
    return by_tinygrad(CHILD, beam)


# By width: the number of candidates that tinygrad compiled, and the decisions for two kernels. A
# search that asks the clock varies between runs.
BY_TINYGRAD = recorded(__file__, "tinygrad.txt")
RECORDED: dict[int, tuple[int, list[list[str]]]] = {
    int(width): tuple(decisions) for width, decisions in BY_TINYGRAD.data("beams").items()
}


@maker("tinygrad", "tinygrad", compared="names of texts", seconds=45)
def beams_by_tinygrad() -> dict[str, str]:
    """With each width, how many candidates it compiled, and what it decided for each kernel."""
    found = {width: tinygrad(width) or {} for width in RECORDED}
    return {"beams": in_rows({width: [one["tried"], one["opts"]] for width, one in found.items()})}


def tinygrad_table() -> tuple[Picture, str]:
    """Its kernels and decisions for each width, and a word on what was run here."""
    live, rows = tinygrad(0), []
    for width, (tried, chosen) in RECORDED.items():
        opts = live["opts"] if live and width == 0 else chosen
        rows.append([f"BEAM={width}", len(opts), tried, *("; ".join(o) or "none" for o in opts)])
    word = f"BEAM=0 ran just now; the others: {BY_TINYGRAD.words}" if live else BY_TINYGRAD.words
    heads = ["tinygrad 0.14.0", "kernels", "candidates compiled", "first kernel", "second kernel"]
    return table(rows, heads), word


# ── TVM ──

BY_TVM = recorded(__file__, "metaschedule.txt")
LOG = BY_TVM["log"]
ROUND = 16  # trials that are chosen at once


def trials() -> list[float]:
    """Milliseconds of MetaSchedule's trials, in order."""
    return [float(ms) for ms in re.findall(r"^trial \d+ ([\d.]+) ms", LOG, re.M)]


def tvm_plot() -> Plot:
    """Each trial, and each round's median and the best so far at its end."""
    seconds = trials()
    ends = range(ROUND, len(seconds) + 1, ROUND)
    series = {
        "a trial": list(enumerate(seconds, 1)),
        "median of its round": [(end, median(seconds[end - ROUND : end])) for end in ends],
        "best so far": [(end, min(seconds[:end])) for end in ends],
    }
    return scatter(series, "trial (count)", "clock (ms)",
                   f"MetaSchedule, 256 → 256, 14 × 14; {BY_TVM.words}", log="y")  # fmt: skip


def tvm_trace() -> str:
    """The first decisions of the best trial, as TVM prints them."""
    order, tiles = (re.findall(rf"^ *(.*{word}.*)$", LOG, re.M) for word in
                    ("tiling_structure", "sample_perfect_tile"))  # fmt: skip
    return "\n".join([order[0], *tiles])
