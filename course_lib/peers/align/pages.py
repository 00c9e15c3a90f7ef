"""An alignment to look at: a table of stages and systems, a slider through the operation's lines.

    table_of(found)     a column for each system, and in it its stages, from the model down
    stepper_of(found)   one page for each stage in which it was found, of one system after the other

Stages one after the other that say the same are one row. Next room:
`course_lib/peers/ours.py`, the next system.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, zip_longest

from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.svg import shorten
from course_lib.draw.plots.table import table
from course_lib.peers.align.found import Alignment, Found

WIDE, MOST = 118, 44  # letters of a line, and lines of a stage, that are shown
FEW = 3  # words of a list


def table_of(alignment: Alignment) -> Picture:
    """What became of the operation, stage by stage, in each system."""
    columns = {system: [f"{names}: {_word(found)}" for names, found in _grouped(stages)]
               for system, stages in alignment.systems.items()}  # fmt: skip
    rows = [list(row) for row in zip_longest(*columns.values(), fillvalue="")]
    return table(
        rows, list(columns), f"{alignment.operation.title}: where it is, and how that is known"
    )


def stepper_of(alignment: Alignment) -> Picture:
    """The lines of the operation in each stage that has some, with their numbers in the dump."""
    pages: list[tuple[str, str | Picture]] = []
    for system, stages in alignment.systems.items():
        for names, found in _grouped(stages):
            if found:
                pages.append((f"{system}: {names}", _page(found)))
    return stepper(pages, f"{alignment.operation.title}, in every system", compare=False)


def _grouped(stages: Mapping[str, Found]) -> list[tuple[str, Found]]:
    """Stages in a row that say the same, by their names; of each the last one."""
    groups = [list(group) for _, group in groupby(stages.items(), key=lambda item: _same(item[1]))]
    return [(names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}", group[-1][1])
            for group in groups for names in [[name for name, _ in group]]]  # fmt: skip


def _same(found: Found) -> tuple[object, ...]:
    return found.how, len(found.lines), found.kernels, found.others


def _word(found: Found) -> str:
    if not found:
        return found.how
    count = f"in {len(found.kernels)} piece{'' if len(found.kernels) == 1 else 's'}"
    more = f", with {_few(found.others)}" if found.others else ""
    return (
        f"{found.how}, {len(found.lines)} line{'' if len(found.lines) == 1 else 's'}, {count}{more}"
    )


def _few(words: tuple[str, ...]) -> str:
    rest = len(words) - FEW
    return ", ".join(words[:FEW]) + (f" and {rest} more" if rest > 0 else "")


def _page(found: Found) -> str:
    """The lines, and above them how they were found and what computes them."""
    kernels = dict.fromkeys(found.kernels)
    head = [f"{found.how}; computed by: {', '.join(shorten(one, 60) for one in kernels)}"]
    if found.others:
        head.append(f"in the same kernels: {_few(found.others)}")
    shown = list(found.lines.items())
    lines, last = [], 0
    for number, line in shown[:MOST]:
        lines += ["        ⋮"] if last and number > last + 1 else []
        lines.append(f"{number:>6}  {shorten(line.expandtabs(2), WIDE)}")
        last = number
    more = [f"        … and {len(shown) - MOST:,} more lines"] if len(shown) > MOST else []
    return "\n".join([*head, "", *lines, *more]) + "\n"
