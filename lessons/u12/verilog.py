"""A cell in Verilog, typed by hand: it takes the place of ours in the array, and Icarus clocks it.

    told("right <= right_in; down <= down_in + right_in * stay; if (shift) stay <= chain_in;")
    ->  "Every register of every clock is right. ..."

The text is what a cell does at a clock's edge; the registers around it are given. It is the
student's own text on the student's own machine: there is a limit of time, and no sandbox. Next
room: `tables.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from course_lib.accelerator.array.registers import registers
from course_lib.accelerator.array.rtl import bench, seen
from course_lib.accelerator.systolic import SystolicArray
from course_lib.bridges.icarus import icarus, installed
from lessons.u12.grid import NAMES

SECONDS = 10  # for a simulation, which takes far less than one
CELL = Path(__file__).with_name("cell.v").read_text("utf-8")
SIZES = ((2, 3, 4), (4, 4, 4), (5, 7, 6))  # m, k, n; the last one takes several folds


def verilog_cell(text: str) -> None:
    """Print what an array of these cells does: the first wrong register, or its products."""
    if "..." in text:
        print("There are dots left to fill in, so your cell is not run.")
    elif not installed():
        print("Icarus Verilog is not installed here, so your cell is not run (Debian: iverilog).")
    else:
        try:
            print(told(text))
        except ValueError as error:  # it does not compile, never ends, or ends the simulation
            print(*str(error).splitlines()[:4], sep="\n")


def told(text: str) -> str:
    """The first register that differs from the library's in a clock, in words; or the products that
    are right. ValueError for a text that does not compile, never ends or ends the simulation."""
    lines = []
    for m, k, n in SIZES:
        rng = np.random.default_rng(m)
        a = rng.integers(-9, 10, (m, k), dtype=np.int8)
        b = rng.integers(-9, 10, (k, n), dtype=np.int8)
        array = SystolicArray(min(k, 4), min(n, 4), dataflow="ws")
        job = bench(a, b, array, states=True)
        sources = {**job.sources, "pe_ws.v": CELL % text}
        run = seen(icarus(sources, job.top, job.parameters, job.files, SECONDS), a, b, array)
        wrong = first_difference(run.states, a, b, array)
        if wrong:
            return f"[{m}, {k}] x [{k}, {n}] on {array.rows} x {array.cols} cells: {wrong}"
        assert (run.values == a.astype(int) @ b).all()
        lines.append(f"[{m}, {k}] x [{k}, {n}]: {run.cycles} clocks, equal to numpy")
    return "\n".join(["Every register is right in every clock.", *lines])


def first_difference(
    states: Mapping[str, np.ndarray], a: np.ndarray, b: np.ndarray, array: SystolicArray
) -> str:
    """Which register of which cell differs first from the library's; "" if none does."""
    for clock, due in enumerate(state for state in registers(a, b, array) if state.counted):
        for name in NAMES:
            mine, ours = states[name][clock], getattr(due, name)
            if (mine != ours).any():
                row, col = np.argwhere(mine != ours)[0].tolist()
                where = f"in clock {clock + 1}, `{name}` of cell ({row}, {col})"
                return f"{where} is {mine[row, col]}, and must be {ours[row, col]}."
    return ""
