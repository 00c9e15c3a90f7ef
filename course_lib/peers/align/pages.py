"""An alignment to look at: a table of stages and systems, a slider through the operation's lines.

    table_of(found)     a column for each system, and in it its stages, from the model down
    stepper_of(found)   one page for each stage in which it was found, of one system after the other

Stages one after the other that say the same are one row, and so is a stage of all kernels, where a
system has a text for each of them. Next room: `course_lib/peers/ours.py`, the next system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, zip_longest

from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.svg import shorten
from course_lib.draw.plots.table import table
from course_lib.peers.align.found import Alignment, Found

WIDE, MOST = 118, 44  # letters of a line, and lines of a stage, that are shown
FEW, LEAST = 3, 8  # words of a list; lines of a kernel, where there are many kernels


@dataclass(frozen=True)
class Row:
    """A stage, or several that say the same: what was found, of each kernel that has a text of its
    own, or under the name ""."""

    name: str
    texts: Mapping[str, Found]

    @property
    def lines(self) -> int:
        return sum(len(one.lines) for one in self.texts.values())

    @property
    def how(self) -> str:
        return next(iter(self.texts.values())).how

    @property
    def kernels(self) -> list[str]:
        return [kernel for one in self.texts.values() for kernel in one.kernels]

    @property
    def others(self) -> list[str]:
        return [*dict.fromkeys(word for one in self.texts.values() for word in one.others)]


def table_of(alignment: Alignment) -> Picture:
    """What became of the operation, stage by stage, in each system."""
    columns = {system: [f"{row.name}: {_word(row)}" for row in _rows(stages)]
               for system, stages in alignment.systems.items()}  # fmt: skip
    rows = [list(row) for row in zip_longest(*columns.values(), fillvalue="")]
    return table(
        rows, list(columns), f"{alignment.operation.title}: where it is, and how that is known"
    )


def stepper_of(alignment: Alignment) -> Picture:
    """The lines of the operation in each stage that has some, with their numbers in the dump."""
    pages: list[tuple[str, str | Picture]] = [
        (f"{system}: {row.name}", _page(row))
        for system, stages in alignment.systems.items()
        for row in _rows(stages)
        if row.lines
    ]
    return stepper(pages, f"{alignment.operation.title}, in every system", compare=False)


def _rows(stages: Mapping[str, Found]) -> list[Row]:
    """Those that say the same, one after the other, by their names; of each the last one."""
    groups = [list(group) for _, group in groupby(_by_stage(stages), key=_same)]
    return [Row(group[0].name if len(group) == 1 else f"{group[0].name} – {group[-1].name}",
                group[-1].texts) for group in groups]  # fmt: skip


def _by_stage(stages: Mapping[str, Found]) -> list[Row]:
    """Of a stage that each kernel has, the kernels that compute it, if any does."""
    texts: dict[str, dict[str, Found]] = {}
    for name, found in stages.items():
        kernel, of_one, stage = name.partition(": ")
        texts.setdefault(f"kernels, {stage}" if of_one else name, {})[of_one and kernel] = found
    return [Row(name, {k: one for k, one in found.items() if one} or found)
            for name, found in texts.items()]  # fmt: skip


def _same(row: Row) -> tuple[object, ...]:
    return row.how, row.lines, row.kernels, row.others


def _word(row: Row) -> str:
    if not row.lines:
        return row.how
    count = f"in {len(row.kernels)} piece{'' if len(row.kernels) == 1 else 's'}"
    more = f", with {_few(row.others)}" if row.others else ""
    return f"{row.how}, {row.lines:,} line{'' if row.lines == 1 else 's'}, {count}{more}"


def _few(words: list[str]) -> str:
    rest = len(words) - FEW
    return ", ".join(words[:FEW]) + (f" and {rest} more" if rest > 0 else "")


def _page(row: Row) -> str:
    """The lines, and above them how they were found and what computes them."""
    kernels = dict.fromkeys(row.kernels)
    head = [f"{row.how}; computed by: {', '.join(shorten(one, 60) for one in kernels)}"]
    if row.others:
        head.append(f"in the same kernels: {_few(row.others)}")
    most = max(MOST // len(row.texts), LEAST)
    for kernel, found in row.texts.items():
        head += ["", *([f"{kernel}:"] if kernel else []), *_numbered(found.lines, most)]
    return "\n".join(head) + "\n"


def _numbered(shown: Mapping[int, str], most: int) -> list[str]:
    """The lines behind their numbers, as far to the left as they can stand together."""
    texts = {number: line.expandtabs(2) for number, line in [*shown.items()][:most]}
    margin = min((len(line) - len(line.lstrip()) for line in texts.values() if line.strip()),
                 default=0)  # fmt: skip
    lines, last = [], 0
    for number, line in texts.items():
        lines += ["        ⋮"] if last and number > last + 1 else []
        lines.append(f"{number:>6}  {shorten(line[margin:], WIDE)}")
        last = number
    rest = len(shown) - len(texts)
    more = [f"        … and {rest:,} more line{'' if rest == 1 else 's'}"] if rest else []
    return [*lines, *more]
