"""`python -m course_lib gpu`: a kernel in PTX is run without a GPU, and counted.

    python -m course_lib gpu copy.ptx --grid 4096 --block 256
        --arg recorded:f32:1048576 empty:f32:1048576 i32:1048576 --counters
    python -m course_lib gpu mine.ptx --grid 16,16 --block 16,16 --arg a.npy b.npy c.npy i32:256
        --races -o page.html

The counts are those of the text, in which neighbouring loads of shared memory are merged as
NVIDIA's assembler merges them; --as-written leaves them alone. Next room: `npu.py`, another
command.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

import numpy as np

from course_lib.commands.infra.options import number
from course_lib.commands.infra.result import Result, shown
from course_lib.files import read_text
from course_lib.gpu.arguments import FORMS, argument
from course_lib.gpu.count.counters import Counters
from course_lib.gpu.count.pages import counted, one_below_the_other, totals
from course_lib.gpu.count.pictures import FirstAccess, accesses
from course_lib.gpu.count.races import Races
from course_lib.gpu.count.stepping import FirstWarp, steps
from course_lib.gpu.ptx.merging import merge_shared_loads
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.machine import Run, launch
from course_lib.gpu.simt.wave import told

HELP = "a kernel in PTX, run and counted without a GPU"
FIRST = 8  # numbers of an array that are shown


def sizes(words: str) -> tuple[int, ...]:
    parts = words.split(",")
    if not 1 <= len(parts) <= 3 or not all(p.isdecimal() and int(p) for p in parts):
        raise ArgumentTypeError(f"one to three sizes, such as 16,16, got {words[:40]!r}")
    return tuple(map(int, parts))


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands."""
    sub.add_argument("file", metavar="KERNEL.ptx", help="PTX of nvcc, clang, Triton, or ours")
    sub.add_argument("--grid", type=sizes, required=True, metavar="X[,Y[,Z]]", help="blocks")
    sub.add_argument("--block", type=sizes, required=True, metavar="X[,Y[,Z]]",
                     help="threads of a block")  # fmt: skip
    sub.add_argument("--arg", nargs="+", action="extend", default=[], metavar="SPEC",
                     help=f"one for each parameter, in order: {FORMS}")  # fmt: skip
    sub.add_argument("--entry", metavar="NAME", help="which kernel, where there are several")
    sub.add_argument("--dynamic", type=number(0), default=0, metavar="BYTES",
                     help="of .extern .shared memory")  # fmt: skip
    sub.add_argument("--counters", action="store_true", help="count, and show each line's counts")
    sub.add_argument("--races", action="store_true", help="look for races (status 1 if any)")
    sub.add_argument("--step", type=number(1), nargs="?", const=100, metavar="N",
                     help="the first warp's first N instructions, one by one (100)")  # fmt: skip
    sub.add_argument("--as-written", action="store_true", help="do not merge shared loads")
    sub.add_argument("-o", "--output", metavar="FILE", help="write the counts as .html or .txt")


def gpu(options: Namespace) -> Result:
    """Run a kernel; show what its arrays hold then, what was counted, and races."""
    entry = read(read_text(options.file)).entry(options.entry)
    if not options.as_written:
        entry = merge_shared_loads(entry, Kernel(entry, options.dynamic).places)
    counters, races, first, warp = Counters(), Races(), FirstAccess(), FirstWarp(options.step or 1)
    counting = options.counters or options.json or options.output is not None
    asked = {counters: counting, first: counting, races: options.races, warp: options.step}
    watches = [watch for watch, wanted in asked.items() if wanted]
    arguments = [argument(words) for words in options.arg]
    run = launch(entry, options.grid, options.block, arguments, watches, options.dynamic)
    data: dict[str, Any] = {
        "entry": entry.name,
        "grid": list(options.grid),
        "block": list(options.block),
        "arrays": _arrays(run),
    }
    if counting:
        data["counters"] = counters.total()
    if options.races:
        data["races"] = [str(race) for race in races.found]
    status = int(options.races and bool(races.found))
    walk = [steps(entry, warp)] if options.step else []
    if options.output is not None:
        title = f"{entry.name}, {told(options.grid)} blocks of {told(options.block)} threads"
        wants = [accesses(entry, first)] if first.found else []
        lines = counted(entry, counters)
        page = one_below_the_other(title, totals(counters), *wants, *walk, lines)
        written = shown(page, "the counts", data, options)
        return Result(written.text, written.data, status)
    tables = [totals(counters), counted(entry, counters)] if options.counters else []
    said = [_races(races)] if options.races else []
    return Result("\n\n".join([_in_words(data), *map(str, tables + walk), *said]), data, status)


def _arrays(run: Run) -> list[dict[str, Any] | None]:
    """What each argument holds that is an array: some numbers, and the sum of all."""
    found: list[dict[str, Any] | None] = []
    for array in run.arrays:
        if array is None:
            found.append(None)
            continue
        values = array if array.dtype != np.uint8 or len(array) % 4 else array.view(np.float32)
        flat = values.reshape(-1)
        finite = np.where(np.isfinite(flat), flat, 0)
        found.append({
            "bytes": array.nbytes, "first": flat[:FIRST].tolist(),
            "sum": float(finite.sum(dtype=np.float64)),
        })  # fmt: skip
    return found


def _in_words(data: dict[str, Any]) -> str:
    lines = [f"{data['entry']}: {told(data['grid'])} blocks of {told(data['block'])} threads"]
    for number_, array in enumerate(data["arrays"]):
        if array is not None:
            first = ", ".join(f"{value:.6g}" for value in array["first"])
            lines.append(f"  argument {number_}: {first}, …; the sum is {array['sum']:.6g}")
    return "\n".join(lines)


def _races(races: Races) -> str:
    return "\n".join(map(str, races.found)) if races.found else "no races"
