"""The tables and plots of the lab: what a search decided, and what the firmware needs.

    search_table(winner)                  a row for each layer
    firmware_table({"yours": text})       sections for a Cortex-M4, and what is left undefined

Next room: autograder/units/u16_lab_stages/exercises.py.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from itertools import accumulate
from textwrap import fill
from typing import Any

import numpy as np

from course_lib.bridges import freestanding
from course_lib.bridges.firmware import FLAGS, networks
from course_lib.bridges.gxx import CppError, apart, compiler
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.charts import lines
from course_lib.draw.plots.table import table
from course_lib.recorded import recorded
from lessons.u16_lab_stages.logs import LOGS, SIZES, Log

BY_C, BY_CLANG = (recorded(__file__, f"{name}.txt") for name in ("c", "clang"))
NETWORK = networks(BY_C)["sequence"]
HIDDEN = '__attribute__((visibility("hidden"))) float expf(float);\n'  # not that of this process
ALONE = "TVM's kernels alone"
Winner = Callable[[Log], Mapping[str, Any]]


def layers_table() -> Picture:
    """The three layers, how many trials each search had, and how many of them failed."""
    rows = [[name, SIZES[name].format(*_sizes(name, log)), f"{1e6 * log['plain']:.0f}",
             len(log["trials"]), sum(one["seconds"] is None for one in log["trials"])]
            for name, log in LOGS.items()]  # fmt: skip
    return table(rows, ["layer", "sizes", "plain loops (µs)", "trials", "failed"],
                 exact=["trials", "failed"])  # fmt: skip


def _sizes(name: str, log: Log) -> list[int]:
    """In the order in which `SIZES` says them."""
    s = log["sizes"]
    if name == "conv2d":
        return [s[0], s[1], s[1], s[2], s[3], s[3]]
    return [s[0], s[1], s[2], s[2], s[3]] if name == "batch_matmul" else s


def trace_text(log: Log, trial: int, wanted: str = "Sample|Split|Reorder|Annotate|Fuse|Parallel"
               "|Vectorize|GetLoops|EnterPostproc") -> str:  # fmt: skip
    """Instructions of a trial's trace with their places, and its decisions."""
    instructions, decisions = log["trials"][trial - 1]["trace"]
    shown = [fill(f"{k:>3}  {json.dumps(one)}", 110, subsequent_indent=" " * 9)
             for k, one in enumerate(instructions) if re.match(wanted, one[0])]  # fmt: skip
    return "\n".join([*shown, f"decisions: {json.dumps(decisions)}"])


def curves(logs: Mapping[str, Log] = LOGS) -> Any:
    """How many times as fast as the plain loops the best schedule is after each trial."""
    found = {}
    for name, log in logs.items():
        times = [one["seconds"] or math.inf for one in log["trials"]]
        found[name] = [(k, log["plain"] / best)
                       for k, best in enumerate(accumulate(times, min), 1)
                       if best < math.inf]  # fmt: skip
    return lines(found, "trial (count)", "best so far (times as fast)",
                 "three layers, each beside its plain loops")  # fmt: skip


def search_table(winner: Winner, logs: Mapping[str, Log] = LOGS) -> Picture:
    """What the fastest schedule of each layer decided."""
    rows = []
    for name, log in logs.items():
        got = winner(log)
        tiles = " | ".join("·".join(map(str, one)) for one in got["tiles"])
        rows.append([name, got["trial"], got["needed"], f"{got['ratio']:.1f}", tiles,
                     got["unroll"], got["jobs"], got["lanes"]])  # fmt: skip
    heads = ["layer", "fastest trial", "trials needed", "times as fast", "tiles", "unroll", "jobs",
             "lanes"]  # fmt: skip
    return table(rows, heads, exact=["fastest trial", "trials needed", "unroll", "jobs", "lanes"])


def loops_of(kind: str) -> str:
    """The loops that TVM printed of the fastest schedule, without what stands behind them."""
    kept = [re.sub(r", annotations=\{.*?\}", "", line)[8:112]
            for line in LOGS[kind]["loops"].splitlines()]  # fmt: skip
    return "\n".join(kept)


# ── C ──


def kernel_text(call: str, rows: int = 12) -> str:
    """The last lines of a kernel as TVM wrote it, behind what it checks."""
    body = NETWORK.code[NETWORK.code.rindex(f"int32_t {call}(") :].partition("\n}\n")[0]
    return "\n".join(line[:108] for line in body.splitlines()[-rows:]) + "\n}"


def about_text(about: Mapping[str, Any] = NETWORK.about) -> str:
    """What `runner` is given, for the network of the page or another one."""
    steps = "\n".join(f"    {json.dumps(step)}," for step in about["steps"])
    shapes = json.dumps(about["shapes"])
    return (f'{{"steps": [\n{steps}\n  ],\n  "shapes": {shapes},\n  "numbers": '
            f'{about["numbers"]}, "workspace": {about["workspace"]}}}')  # fmt: skip


def sections(texts: Mapping[str, str]) -> list[list[Any]]:
    """For each C text, the bytes of the object's sections and what it does not define. Where
    weights are read, they are counted by themselves."""
    weights = 4 * sum(NETWORK.size(name) for name in NETWORK.weights)
    rows = []
    for name, text in texts.items():
        made = freestanding.looked_at(NETWORK.source(text, NETWORK.values(0), harness=False))
        read = weights if text.strip() else 0
        rows.append([name, read, made.text - read, made.data + made.bss,
                     ", ".join(made.undefined) or "nothing"])  # fmt: skip
    return rows


def firmware_table(runner: str) -> Picture:
    """The object for a Cortex-M4 as clang compiles it: of the kernels alone, with a runner, and
    with one whose error function the compiler may not look into. Recorded where it is missing."""
    heads = ["", "weights (bytes)", "code and constants (bytes)", "memory (bytes)", "undefined"]
    rows = BY_CLANG.data("sections")
    if words := freestanding.lacking():
        print(f"{words}. These figures, of our own runner, were {BY_CLANG.words}.")
    else:
        rows = sections(variants(runner) if runner else {ALONE: ""})
    return table(rows if runner else rows[:1], heads, exact=heads[1:4])


def variants(runner: str) -> dict[str, str]:
    """The texts of that table, by name."""
    apart = "#pragma weak TVMFFIErrorSetRaisedFromCStrParts\n"
    return {ALONE: "", "errors kept": f"{apart}{runner}", "whole": runner}


def beside_weights(runner: str) -> int:
    """Bytes of code and constants, without the weights."""
    lacks = freestanding.lacking()
    rows = BY_CLANG.data("sections") if lacks else sections({"whole": runner})
    return rows[-1][2]


def ran_here(runner: str, seed: int = 0) -> str:
    """How far what the C computes on this processor is from what our interpreter does."""
    if compiler() is None:
        return "There is no g++ here, which would compile it for this processor."
    values = NETWORK.values(seed)
    out = np.full(NETWORK.shapes[NETWORK.output], np.nan, np.float32)
    count, where = np.zeros(1, np.int64), np.zeros(128, np.int64)
    flags = [flag for flag in FLAGS if not flag.startswith("-Wl")]
    try:
        text = f"{HIDDEN}{NETWORK.source(runner, values, harness=True)}"
        call = apart(text, "harness_run", flags)
        code = call(values[NETWORK.input], out, count, where).value
    except CppError as error:
        return str(error)
    off = np.abs(out - NETWORK.computed(values)).max()
    return f"main returned {code}; the largest difference to the interpreter is {off:.1g}"
