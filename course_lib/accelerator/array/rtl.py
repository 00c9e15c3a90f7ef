"""The array in Verilog: what its test bench reads, and what it has written.

    job = bench(a, b, SystolicArray(4, 4, dataflow="ws", shadow=True), states=True)
    written = icarus(job.sources, job.top, job.parameters, job.files)      # bridges/icarus.py
    seen(written, a, b, array).cycles   ->   as many as level 0 has states

The Verilog (`verilog/`) is a second witness of the registers, and its controller (`bench.v`) of the
cycles: it follows the control bits that come out of the array, and has no formula. int8 only.
Next room: `verilog/pe_ws.v`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from course_lib.accelerator.array.dataflow import AXES, Folding
from course_lib.accelerator.systolic import Run, SystolicArray

VERILOG = Path(__file__).parent / "verilog"
REGISTERS = ("right", "down", "stay", "spare", "control")


@dataclass(frozen=True)
class Bench:
    """Arguments for `bridges.icarus.icarus`."""

    sources: dict[str, str]
    parameters: dict[str, int]
    files: dict[str, str]
    top: str = "bench"


@dataclass(frozen=True, eq=False)
class Seen(Run):
    """A run, and each register of `REGISTERS` at the end of every clock: [clocks, rows, cols]."""

    states: Mapping[str, np.ndarray] = field(default_factory=dict)


def bench(a: np.ndarray, b: np.ndarray, array: SystolicArray, states: bool = False) -> Bench:
    """The product of `a` [m, k] and `b` [k, n] for the test bench; ValueError if not int8."""
    if a.dtype != np.int8 or b.dtype != np.int8:
        raise ValueError(f"the cells in Verilog take int8, got {a.dtype} and {b.dtype}")
    folding = _folding(a, b, array)
    flow, given = folding.flow, {"a": a, "b": b}
    other = flow.cols + flow.time if flow.stays == "c" else flow.rows + flow.cols
    files = {}
    for name, axes in (("right.hex", flow.rows + flow.time), ("other.hex", other)):
        matrix = next(m for m in "ab" if set(AXES[m]) == set(axes))
        files[name] = _hexadecimal(given[matrix] if AXES[matrix] == axes else given[matrix].T)
    parameters = {
        "R": array.rows,
        "C": array.cols,
        "OUTPUTS_STAY": int(flow.stays == "c"),
        "SECOND": int(array.shadow or (flow.stays == "c" and not array.drain)),
        "ROWS": folding.rows,
        "COLS": folding.cols,
        "TIME": folding.time,
        "STATES": int(states),
    }
    sources = {path.name: path.read_text() for path in sorted(VERILOG.glob("*.v"))}
    return Bench(sources, parameters, files)


def seen(written: Mapping[str, str], a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Seen:
    """What the bench has written as a run; ValueError if it has not come to its end."""
    if "result.txt" not in written:
        raise ValueError(f"the test bench wrote no result: {written.get('', '')}")
    folding = _folding(a, b, array)
    head, *numbers = written["result.txt"].split("\n")
    values = np.array([int(number) for number in numbers if number], np.int32)
    values = values.reshape(-1, folding.cols)
    if array.dataflow == "is":
        values = values.T
    states = _states(written["states.txt"], array) if "states.txt" in written else {}
    count = int(head.removeprefix("cycles "))
    return Seen(array, values, count, folding.macs, folding.folds, states)


def _states(text: str, array: SystolicArray) -> dict[str, np.ndarray]:
    """Lines of: clock row column right down stay spare control. In a clock, in any order."""
    lines = np.array(text.split(), int).reshape(-1, 3 + len(REGISTERS))
    clock, row, col = lines[:, 0] - 1, lines[:, 1], lines[:, 2]
    registers = {}
    for place, name in enumerate(REGISTERS, 3):
        registers[name] = np.zeros((int(clock.max()) + 1, array.rows, array.cols), int)
        registers[name][clock, row, col] = lines[:, place]
    return registers


def _folding(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Folding:
    (m, k), (_, n) = a.shape, b.shape
    return Folding(array, m, k, n)


def _hexadecimal(matrix: np.ndarray) -> str:
    return "\n".join(f"{int(number) & 0xFF:02x}" for number in matrix.ravel())
