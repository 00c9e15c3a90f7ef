"""What Inductor wrote, shortened; what it cost on a GPU; and the same functions in JAX.

    CPP["behind attention"]                C++ of a transformer block, recorded
    gpu_table(), gelu_drawn()              nine kernels of GELU and one, with times, drawn
    wild_table()                           five situations in torch.compile and in jax.jit

JAX is asked in a process of its own where it is installed, else its answers are recorded. Next
room: autograder/units/u15/checks.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from importlib.util import find_spec
from io import StringIO
from textwrap import fill
from typing import Any

import numpy as np

from course_lib.draw.graphs.graph import before_after
from course_lib.draw.plots.table import table
from course_lib.ir.graph.build import tanh, trace
from course_lib.ir.graph.node import Node, apply
from course_lib.maker import maker
from course_lib.recorded import recorded
from lessons.bill import bill_of
from lessons.u15.division import in_order, listed_block
from lessons.u15.dynamo import counting
from lessons.u15.text import SCALED, graphs

BY_INDUCTOR, BY_GPU, BY_JAX = (recorded(__file__, f"{t}.txt") for t in ("inductor", "gpu", "jax"))
CPP, TRITON = BY_INDUCTOR.texts, BY_GPU["triton"]
FIGURES: dict[str, Any] = BY_GPU.data("figures")
ARRAY = 8 * 1024 * 4096 * 4  # bytes of f32[8,1024,4096], which the GPU was given
# The arrays that each of the nine operations reads, in the order of the launches.
READS = (1, 1, 2, 2, 2, 1, 1, 1, 2)


def wrapped(text: str) -> str:
    """A kernel whose first line, its arguments, is broken into lines that a page has room for."""
    head, _, body = text.partition("\n")
    return fill(head, 96, subsequent_indent=" " * 7) + "\n" + body


def times_bytes() -> float:
    """How many times as many arrays the nine kernels move as the one."""
    return sum(reads + 1 for reads in READS) / 2


def gpu_table() -> Any:
    """Each kernel of GELU on a GPU: its time, its bytes and bytes per second."""
    rows = []
    for (name, us), reads in zip(FIGURES["eager"], READS, strict=True):
        rows.append([name, us, *_moved(reads + 1, us)])
    (kernel,) = FIGURES["compiled"]
    total = sum(us for _, us in FIGURES["eager"])
    rows.append(["the nine together", total, *_moved(sum(READS) + 9, total)])
    rows.append([kernel[0], kernel[1], *_moved(2, kernel[1])])
    title = f"GELU of f32[8,1024,4096], {BY_GPU.words}"
    return table(rows, ["kernel", "time (µs)", "read and written (MB)", "TB/s"], title)


def gelu_drawn() -> Any:
    """GELU as nine kernels and as one, which is our IR's `gelu`; each line with the bytes that are
    read along it."""

    def written_out(x: Node) -> Node:
        inner = x + x * 0.044715 * x * x
        return x * 0.5 * (tanh(inner * 0.7978845608028654) + 1.0)

    def together(x: Node) -> Node:
        return apply("gelu", x, approximate="tanh")

    graphs = (trace(f, "f32[8,1024,4096]", name="gelu") for f in (written_out, together))
    return before_after(*graphs, title="nine kernels, one kernel", edge_bytes=True)


def _moved(arrays: int, us: float) -> tuple[float, float]:
    return arrays * ARRAY / 1e6, arrays * ARRAY / us / 1e6


# ── in the wild ──

ASK_JAX = """
import io, json, contextlib
import jax, jax.numpy as jnp
answers, scale = {"version": jax.__version__}, 2.0
traced = []
def scaled(x):
    traced.append(x.shape)
    return x * scale
f = jax.jit(scaled)
for n in (8, 9, 10, 11, 8):
    f(jnp.ones(n))
answers["graphs"] = len(traced)
first = float(f(jnp.ones(8))[0])
scale = 3.0
answers["global"] = [first, float(f(jnp.ones(8))[0])]
def printed(x):
    print("called")
    return x + 1
g, said = jax.jit(printed), io.StringIO()
with contextlib.redirect_stdout(said):
    for _ in range(3):
        g(jnp.ones(8))
answers["prints"] = said.getvalue().count("called")
def branching(x):
    return x / 2 if x.mean() > 0.5 else x
try:
    answers["branch"] = str(jax.jit(branching)(jnp.ones(8))[0])
except Exception as error:
    answers["branch"] = type(error).__name__
def changed(x):
    y = x
    y += 1
    return x, y
answers["place"] = [float(a[0]) for a in jax.jit(changed)(jnp.ones(8))]
print(json.dumps(answers))
"""


@maker("JAX", "jax", seconds=3)
def answers_of_jax() -> dict[str, str]:
    """What JAX answers, asked in a process of its own. CalledProcessError if it does not start."""
    command = [sys.executable, "-c", ASK_JAX]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return {"answers": done.stdout.splitlines()[-1]}


@cache
def by_jax() -> tuple[dict[str, Any], str]:
    """What JAX answers, and whether it was asked now."""
    if find_spec("jax") is not None:
        with contextlib.suppress(subprocess.CalledProcessError):
            answers = json.loads(answers_of_jax()["answers"])
            return answers, f"jax.jit, JAX {answers['version']}"
    return BY_JAX.data("answers"), f"jax.jit, {BY_JAX.words}"


@cache
def by_torch() -> dict[str, Any]:
    """The same questions, asked of torch.compile."""
    import torch

    names: dict[str, Any] = {"scale": 2.0}
    exec("def scaled(x):\n    return x * scale\n", names)
    answers: dict[str, Any] = {}
    with counting(names["scaled"]) as (f, graphs):
        for n in (8, 9, 10, 11, 8):
            f(torch.ones(n))
        answers["graphs"] = len(graphs)
        first = float(f(torch.ones(8))[0])
        names["scale"] = 3.0
        answers["global"] = [first, float(f(torch.ones(8))[0])]

    def printed(x: Any) -> Any:
        print("called")
        return x + 1

    def branching(x: Any) -> Any:
        return x / 2 if x.mean() > 0.5 else x

    def changed(x: Any) -> Any:
        y = x
        y += 1
        return x, y

    with counting(printed) as (f, _), redirect_stdout(StringIO()) as said:
        for _ in range(3):
            f(torch.ones(8))
    answers["prints"] = said.getvalue().count("called")
    answers["branch"] = f"{_count(branching)} graphs, a break between them"
    with counting(changed) as (f, _):
        answers["place"] = [float(a[0]) for a in f(torch.ones(8))]
    return answers


def _count(function: Callable[..., Any]) -> int:
    import torch

    with counting(function) as (f, graphs):
        f(torch.ones(8))
    return len(graphs)


def wild_table() -> Any:
    """Five situations, and what becomes of them in two compilers."""
    import torch

    theirs, jax = by_jax()
    mine, version = by_torch(), torch.__version__.split("+")[0]
    rows = [
        ["sizes 8, 9, 10, 11, 8", *(f"{a['graphs']} graphs" for a in (mine, theirs))],
        ["x * G for x = 1, with G = 2, then 3", *(_pair(a["global"]) for a in (mine, theirs))],
        ["a print, called three times", *(f"prints {a['prints']} times" if a["prints"] > 1
                                          else "prints once" for a in (mine, theirs))],
        ["a branch on the mean of x", mine["branch"], f"an error, {theirs['branch']}"],
        ["y = x; y += 1 for x = 1: x and y", *(_pair(a["place"]) for a in (mine, theirs))],
    ]  # fmt: skip
    return table(rows, ["the function, or its calls", f"torch.compile, PyTorch {version}", jax])


def _pair(values: list[float]) -> str:
    return " and ".join(f"{value:g}" for value in values)


def bill(repaired: Callable[[], str], parts: Callable[..., Any]) -> Any:
    """What the two pieces changed: graphs of a function, and parts of the block."""
    ones = np.ones((4, 3), np.float32), np.ones((3, 5), np.float32)
    nodes = listed_block()
    takes = {op for _, op, _ in nodes} - {"t"}
    mine = sum(who == "ours" for who, *_ in parts(nodes, takes))
    rows = [
        ["scaled(x, w)", "graphs", graphs(SCALED, *ones), graphs(repaired(), *ones), 1],
        ["the block, without t", "parts", len(in_order(nodes, takes)), mine, 1],
    ]
    return bill_of(rows, ["program", "what is counted", "before", "with yours", "best possible"])
