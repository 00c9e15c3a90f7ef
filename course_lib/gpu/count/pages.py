"""What was counted, as tables: the whole kernel, and each line of its text.

    counted(entry, counters)     the text of a kernel with what each of its lines cost
    totals(counters)             all of it together

Next room: `../../commands/gpu.py`, the command line.
"""

from __future__ import annotations

from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.plots.table import Cell, table
from course_lib.gpu.count.counters import Counters
from course_lib.gpu.ptx.parts import Entry

HEADS = ("line", "instruction", "warps", "threads (%)", "requests", "sectors a request",
         "wavefronts", "conflicts")  # fmt: skip


def counted(entry: Entry, counters: Counters) -> Picture:
    """Every instruction that was done: by how many warps, with how many of their threads, and what
    memory had to do for it."""
    rows: list[list[Cell]] = []
    for number, i in enumerate(entry.instructions):
        line = counters.line(number)
        if not line.warps:
            continue
        share = round(100 * line.threads / (32 * line.warps))
        shared = line.space == "shared"
        sectors = line.sectors / line.requests if line.requests and not shared else None
        rows.append(
            [
                i.line,
                str(i),
                line.warps,
                share,
                line.requests or None,
                sectors,
                line.wavefronts if shared else None,
                line.conflicts if shared else None,
            ]
        )
    return table(rows, HEADS, f"{entry.name}, line by line",
                 exact=("line", "warps", "requests", "wavefronts", "conflicts"))  # fmt: skip


def totals(counters: Counters) -> Picture:
    rows: list[list[Cell]] = [
        [name.replace("_", " "), value] for name, value in counters.total().items()
    ]
    return table(rows, ["counter", "count"], "All together", exact=("count",))


def one_below_the_other(title: str, *pictures: Picture) -> Picture:
    html = fragment(*(picture.html for picture in pictures))
    return Picture(title, html, "\n\n".join(picture.text for picture in pictures))
