"""The start page: notebooks/index.md, with the units that there are.

    - u02 · Rewrites · Which operations can go?          a line of the source
    - [u02 · Rewrites](u02_rewrites.ipynb). Which ... 12 points, 6 bonus.    if it has a notebook
      - [Lab: Passes](u02_lab_passes.ipynb). 8 points; nothing later needs it.    below its unit
    1 of 2 units exist. Planned, in this order: ...  those that have none yet, all of them together

Next room: deliver.py, which writes an edition.
"""

from __future__ import annotations

import re
from typing import Any

import jupytext
import nbformat

from autograder.edition.sources import KERNEL, Source

WHERE = """\
## Where you are

Run the cell: it shows what you have passed, tried and not opened yet, as it is kept in this folder,
in `progress.json` and `predictions.json`. Run it again to bring it up to date. Nothing of it is
sent anywhere. `python -m autograder status` prints the same in a terminal."""
SHOW = """\
from autograder import dashboard, hand_in_minutes, measure_minutes

dashboard()"""
COSTS = """\
## Your compiler

`use_my()` plugs in your answers that pass their checks, from the notebooks beside this page as you
saved them. `your_compiler()` then counts what four models cost with them, beside the library's own
functions and the stand-ins, and the map above shows the last counts. `your_compiler(seconds=20)`
also measures times, in turns. Both say how far they are, and the stop button ends them."""
COMPILER = """\
from autograder import use_my, your_compiler

use_my()
your_compiler()"""
UNIT = re.compile(r"- u(\d\d) · ([^·]+) · (.+)")


def start_page(text: str, sources: list[Source]) -> bytes:
    """The page as a notebook file. `text` is the source, `sources` are the notebooks that exist."""
    raw = jupytext.reads(units_that_exist(text, sources), fmt="md:myst")
    for number, cell in enumerate(raw.cells):
        cell.id, cell.metadata = f"start-{number}", {}
    cells = [*raw.cells[:1], *dashboard_cells(), *raw.cells[1:]]
    metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    page = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    return (nbformat.writes(page) + "\n").encode()


def dashboard_cells() -> list[Any]:
    """Where the learner is, and what their compiler costs."""
    return [
        nbformat.v4.new_markdown_cell(WHERE, id="start-where"),
        nbformat.v4.new_code_cell(SHOW, id="start-map"),
        nbformat.v4.new_markdown_cell(COSTS, id="start-costs"),
        nbformat.v4.new_code_cell(COMPILER, id="start-compiler"),
    ]


def units_that_exist(text: str, sources: list[Source]) -> str:
    """The source with a link to each notebook; units that have none yet are named at the end."""
    there = {source.unit: source for source in sources if not source.is_lab}
    lines: list[str] = []
    planned: list[str] = []
    known = 0
    for line in text.splitlines():
        match = UNIT.fullmatch(line)
        if match is None:
            lines.append(line)
        elif int(match[1]) in there:
            source = there[int(match[1])]
            link = f"[u{match[1]} · {match[2]}]({source.name}.ipynb)"
            lines.append(f"- {link}. {match[3]} {source.worth()}.")
            lines += [_lab(lab) for lab in sources if lab.is_lab and lab.unit == source.unit]
            known += 1
        else:
            planned.append(f"u{match[1]} {match[2]}")
    lines = _without_empty_parts(lines)
    if planned:
        count = f"{known} of {known + len(planned)} units exist"
        lines += ["", f"{count}. Planned, in this order: {'; '.join(planned)}."]
    return "\n".join(lines) + "\n"


def _lab(source: Source) -> str:
    return f"  - [{source.title}]({source.name}.ipynb). {source.worth()}; nothing later needs it."


def _without_empty_parts(lines: list[str]) -> list[str]:
    """Drop a part's heading if no unit stands below it."""
    kept: list[str] = []
    for line in lines:
        if kept and line.startswith("### ") and kept[-1].startswith("### "):
            kept.pop()
        if line or (kept and kept[-1] and not kept[-1].startswith("### ")):
            kept.append(line)
    while kept and (not kept[-1] or kept[-1].startswith("### ")):
        kept.pop()
    return kept
