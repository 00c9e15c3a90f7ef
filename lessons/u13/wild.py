"""What Arm's compiler for another chip makes of two layers like the one of unit 13, as recorded.

    vela_table()           its estimate for each of the two layers
    BY_VELA["commands"]    the commands that start, wait or limit

Next room: hand.py.
"""

from __future__ import annotations

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.recorded import recorded

BY_VELA = recorded(__file__, "vela.txt")


def vela_table() -> Picture:
    """The cycles of each layer, and what its array and its memories take of them."""
    names, layers = ("first layer", "second layer"), BY_VELA.data("performance")
    rows = [[name, *layer.values()] for name, layer in zip(names, layers, strict=True)]
    heads = ["", *(f"{part} (cycles)" for part in ("all", "array", "SRAM", "DRAM"))]
    return table(rows, heads, exact=heads[1:])
