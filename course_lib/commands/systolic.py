"""`python -m course_lib systolic`: one matrix product on a systolic array, and what it costs there.

    python -m course_lib systolic -m 197 -n 768 -k 768 --rows 32 --cols 32 --dataflow ws --json
    ->  {"cycles": 167616, "utilization": 0.677, "definition": "F(T + 2R + C - 2) with ...", ...}

Every number follows from the array and the three sizes; the definition says what a cycle is, and
what is not counted. Next room: `run.py`, another command.
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from course_lib.accelerator.array import registers, wavefront
from course_lib.accelerator.array.access import accesses
from course_lib.accelerator.array.closed import cycles, definition
from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.array.dram import RULE, Memories, dram_bytes
from course_lib.accelerator.array.multiply import multiply
from course_lib.accelerator.array.presets import REPORTS_LESS, preset
from course_lib.accelerator.array.timeline import trace_of
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.systolic import STAYS, SystolicArray
from course_lib.commands.infra.options import number
from course_lib.commands.infra.result import Result
from course_lib.trace.chrome import write_trace

HELP = "cycles of a matrix product on a systolic array"

AFFORDABLE = (registers.affordable, wavefront.affordable)
SRAM_READ = "words that cross the edge of the array; zeros that fill ragged folds are not counted"


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands."""
    for axis, what in (("m", "rows of a and c"), ("n", "columns of b and c"), ("k", "the sum")):
        sub.add_argument(f"-{axis}", type=int, required=True, metavar=axis.upper(), help=what)
    sub.add_argument("--preset", choices=PRESETS, help="rows, cols, dataflow, SRAMs of a chip")
    sub.add_argument("--rows", type=int, help="of the array (4)")
    sub.add_argument("--cols", type=int, help="of the array (4)")
    sub.add_argument("--dataflow", choices=STAYS, help="what stays: output, weight or input (os)")
    sub.add_argument("--shadow", action=BooleanOptionalAction, help="ws, is: load the next fold "
                     "during this one (no)")  # fmt: skip
    sub.add_argument("--drain", action=BooleanOptionalAction, help="os: count the clocks in which "
                     "results leave (no)")  # fmt: skip
    sub.add_argument("--level", type=int, choices=(0, 1, 2), default=2, help="0 every register, "
                     "1 the wavefront, both on random int8 and compared with numpy; 2 the formula "
                     "(2)")  # fmt: skip
    for name, what in (("acts", "a"), ("weights", "b"), ("accs", "sums")):
        sub.add_argument(f"--{name}", type=int, metavar="BYTES", help=f"SRAM for {what}, for the "
                         "bytes from DRAM (that of npu)")  # fmt: skip
    sub.add_argument(
        "--seed", type=number(0), metavar="N", default=0, help="of the numbers at levels 0 and 1"
    )
    sub.add_argument("--trace", metavar="FILE.json", help="write Chrome's trace format")


def systolic(options: Namespace) -> Result:
    """Cycles, utilization, accesses and bytes of one product."""
    array, memories = _described(options)
    folding = Folding(array, options.m, options.k, options.n)
    count = cycles(options.m, options.k, options.n, array)
    values = _simulated(folding, options, count)
    if options.trace:
        write_trace(trace_of(folding), options.trace)
    data: dict[str, Any] = {
        **{axis: getattr(options, axis) for axis in "mkn"},
        **asdict(array),
        "preset": options.preset,
        "level": options.level,
        "cycles": count,
        "definition": definition(array),
        "utilization": folding.macs / (count * array.rows * array.cols),
        "macs": folding.macs,
        "folds": folding.folds,
        "values": values,
        **_moved(folding, memories),
    }
    if options.preset in REPORTS_LESS and not (array.shadow or array.drain):
        data["reported_total"] = count - REPORTS_LESS[options.preset]
    return Result(_text(data), data)


def _described(options: Namespace) -> tuple[SystolicArray, Memories]:
    """The preset's array and memories, or those of unit 0, with what was given in their place."""
    if options.preset:
        array, memories = preset(options.preset, options.dataflow)
    else:
        array = SystolicArray(dataflow=options.dataflow or "os")
        memories = preset("npu")[1]
    return (
        replace(array, **_given(options, "rows", "cols", "shadow", "drain")),
        replace(memories, **_given(options, "acts", "weights", "accs")),
    )


def _given(options: Namespace, *names: str) -> dict[str, Any]:
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _simulated(folding: Folding, options: Namespace, count: int) -> str:
    """What was found about the values; the simulation counts its own cycles."""
    if options.level == 2:
        return "not computed at level 2"
    AFFORDABLE[options.level](folding)
    rng = np.random.default_rng(options.seed)
    a, b = (
        rng.integers(-128, 128, shape, dtype=np.int8)
        for shape in ((options.m, options.k), (options.k, options.n))
    )
    run = multiply(a, b, folding.array, options.level)
    assert run.cycles == count, f"level {options.level} takes {run.cycles} cycles, not {count}"
    assert np.array_equal(run.values, multiply(a, b, folding.array, 2).values)
    return "int32, equal to numpy's product"


def _moved(folding: Folding, memories: Memories) -> dict[str, Any]:
    sizes = folding.m, folding.k, folding.n
    by_matrix = accesses(*sizes, folding.array)
    moved = dram_bytes(*sizes, folding.array, memories)
    read, written = ({name: pair[side] for name, pair in moved.items()} for side in (0, 1))
    return {
        "sram_reads": _with_total({name: one.sram_reads for name, one in by_matrix.items()}),
        "sram_writes": _with_total({name: one.sram_writes for name, one in by_matrix.items()}),
        "sram_unit": SRAM_READ,
        "dram_bytes": sum(read.values()) + sum(written.values()),
        "dram_bytes_read": _with_total(read),
        "dram_bytes_written": _with_total(written),
        "dram_rule": RULE,
        "sram_bytes": asdict(memories),
    }


def _with_total(counts: dict[str, int]) -> dict[str, int]:
    return {**counts, "total": sum(counts.values())}


def _text(data: dict[str, Any]) -> str:
    lines = [
        f"[{data['m']}, {data['k']}] x [{data['k']}, {data['n']}]: {data['cycles']:,} cycles, "
        f"utilization {data['utilization']:.1%} ({data['macs']:,} multiply-accumulates in "
        f"{data['folds']:,} folds)",
        f"cycles      {data['definition']}",
    ]
    if "reported_total" in data:
        lines += [f"            that tool's report says {data['reported_total']:,}"]
    for name, key in (("SRAM reads", "sram_reads"), ("SRAM writes", "sram_writes")):
        counts = ", ".join(f"{key} {count:,}" for key, count in data[key].items())
        lines += [f"{name:<11} {counts} words"]
    lines += [
        f"DRAM        {data['dram_bytes']:,} bytes ({data['dram_rule']})",
        f"values      {data['values']}",
    ]
    return "\n".join(lines)
