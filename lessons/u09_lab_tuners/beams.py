"""tinygrad's scheduler and its BEAM search on the course's perceptron: run here, and recorded.

    measure(0)     ->  Run(kernels=3, milliseconds=..., candidates=0, seconds=..., chosen=[...])
    RECORDED[3]    ->  three runs with BEAM=3

tinygrad runs in a process of its own, because it reads its settings from the environment when it is
imported. Its search depends on measured times, so two runs rarely end alike. `python -m course_lib
record u09_lab_tuners/tinygrad` records it again. Next room: logs.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from course_lib.maker import in_rows, maker
from course_lib.recorded import recorded
from lessons.beam import by_tinygrad

WIDTHS, TIMES = (0, 1, 2, 3), 3
# With DEBUG=3, tinygrad prints the decisions of every program that it compiles. A search compiles
# its candidates under the name "test"; the line with a kernel's own name is the one that it runs.
CHILD = r"""
import contextlib, io, json, re, resource, time
from tinygrad import GlobalCounters, Tensor, TinyJit
from tinygrad.helpers import Context

def used():
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)  # clang is a child
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, whose))

with Context(BEAM=0):
    sizes = (784, 512, 512, 10)
    x = Tensor.rand(1, 784).realize()
    weights = [(Tensor.rand(m, n).realize(), Tensor.rand(n).realize())
               for m, n in zip(sizes, sizes[1:])]

def layers(x):
    for number, (w, b) in enumerate(weights):
        x = x @ w + b
        x = x.relu() if number < 2 else x
    return x.realize()

model, start, said = TinyJit(lambda: layers(x)), used(), io.StringIO()
with contextlib.redirect_stdout(said), Context(DEBUG=3):
    GlobalCounters.reset()
    model()
    kernels = GlobalCounters.kernel_count
seconds, least = used() - start, 1e9
model()
for _ in range(500):
    start = time.perf_counter()
    model()
    least = min(least, time.perf_counter() - start)
text = re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", said.getvalue()).replace("\r", "\n")
tried = re.findall(r"s +from +(\d+) -> +\d+ actions", text)  # a round: "20.42us from   5 ->   4"
opts = re.findall(r"^(\S+) +opts: \((.*)\)", text, re.M)
short = [re.findall(r"OptOps\.(\w+), axis=(\w+), arg=(\w+)", line)
         for name, line in opts if name != "test"]
print(json.dumps({
    "kernels": kernels, "milliseconds": 1e3 * least, "seconds": seconds,
    "candidates": sum(map(int, tried)),
    "chosen": ["; ".join("{}({}, {})".format(*o) for o in line) or "none" for line in short]}))
"""


@dataclass(frozen=True)
class Run:
    """A width of the beam, tried once: kernels, the least milliseconds of 500 runs of the whole
    model, candidates that the search compiled, seconds of the processor for compiling and searching
    (clang included), and the decisions for each kernel."""

    kernels: int
    milliseconds: float
    candidates: int
    seconds: float
    chosen: Sequence[str]


def measure(beam: int) -> Run | None:
    """Runs tinygrad with this width. None where tinygrad or clang is missing."""
    found = by_tinygrad(CHILD, beam, seconds=1200)
    return None if found is None else Run(**found)


@maker("tinygrad", "tinygrad", compared="names of texts", seconds=300)
def runs_by_tinygrad() -> dict[str, str]:
    """All widths in turns, several times."""
    runs: dict[int, list[Any]] = {width: [] for width in WIDTHS}
    for _ in range(TIMES):
        for width in WIDTHS:
            run = measure(width)
            assert run, "tinygrad and clang are needed"
            runs[width].append(asdict(run))
    return {"runs": in_rows(runs)}


BY_TINYGRAD = recorded(__file__, "tinygrad.txt")
RECORDED: dict[int, list[Run]] = {
    int(width): [Run(**run) for run in runs] for width, runs in BY_TINYGRAD.data("runs").items()
}
