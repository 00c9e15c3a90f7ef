"""The arrays inside the presets of whole chips, and what each of them counts.

    array, memories = preset("scalesim")
    array   ->   32×32 output-stationary array (counted: fill, not drain, not memory; whole tiles)

    teaching   4 x 4, drain counted
    npu        32 x 32 with shadow weights, weight-stationary unless another dataflow is asked for
    scalesim   configs/scale.cfg of that tool: 32 x 32, nothing hidden behind something else; the
               total in its report is one less (`REPORTS_LESS`), because it numbers cycles from 0
    rtl        4 x 4, from the first operand until the last result has left, as in `verilog/`

Next room: `course_lib/commands/systolic.py`, the command line.
"""

from __future__ import annotations

from course_lib.accelerator.array.dram import Memories
from course_lib.accelerator.chip import ACCS, PRESETS
from course_lib.accelerator.systolic import STAYS, SystolicArray

REPORTS_LESS = {"scalesim": 1}
USUAL = {"npu": "ws"}  # the dataflow that a preset has if nobody asks; otherwise "os"


def preset(name: str, dataflow: str | None = None) -> tuple[SystolicArray, Memories]:
    """The array of a chip and its SRAMs; ValueError if there is no preset of that name."""
    if name not in PRESETS:
        raise ValueError(f"a preset is one of {', '.join(PRESETS)}, got {name!r}")
    chip, kind = PRESETS[name], dataflow or USUAL.get(name, "os")
    if kind not in STAYS:
        raise ValueError(f"a dataflow is one of {', '.join(STAYS)}, got {kind!r}")
    outputs = kind == "os"
    array = SystolicArray(
        chip.rows,
        chip.cols,
        drain=outputs and chip.drain,
        dataflow=kind,
        shadow=not outputs and chip.shadow,
    )
    return array, Memories(chip.acts, chip.weights, 4 * chip.size(ACCS))
