"""Visible checks of the lab of unit 16. Here: softmaxes in rows.

`Writer` writes rows in the words of a stage and knows where its softmaxes are, so no check looks
for one. Next room: log.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from autograder.check.stages import Writer
from course_lib.peers.align.rows import Row, rows
from lessons.u16_lab_stages.dumps import DUMPS

FIND = "Find every softmax in a stage of any of the four compilers"
FORM = "for each softmax, the line of its result, and the lines of its exponential and of its sum"
DIVIDED = ("A softmax is a division of e by s, where e is an exponential and s is the sum along an "
           "axis of this same e")  # fmt: skip
PRODUCT = "It may also be a product, in either order, of e and r, where r is 1 divided by s"
RESULT = "then its result is the product"
CALLED = "An operation that is itself called softmax has no parts"
ALL = [FIND, FORM, DIVIDED, PRODUCT, RESULT, CALLED]

NAME = "u16_lab_stages.found"
background(NAME, "as `rows` gives them", because="what the argument is")
background(NAME, "The table above has the words of each stage", because="where to look")
background(NAME, "Along which axis a sum runs is not asked here ... unit 16", because="not asked")


# In the recorded texts: lines of results, of exponentials and of sums.
DUE = {
    "StableHLO": {16: [11, 13], 23: [18, 20]}, "linalg": {44: [26, 33], 74: [56, 63]},
    "Flow": {12: [], 43: [16, 38]}, "Relax": {6: [], 10: [8, 9]},
    "TIR": {49: [34, 42], 11: [61, 73]}, "TTIR": {27: [20, 23], 39: [29, 35]},
    "TTGIR": {28: [21, 24], 40: [30, 36]},
}  # fmt: skip


def as_due(got: Any, due: Mapping[int, list[int]], of: list[Row], shown: str) -> None:
    """Wrong unless these are the softmaxes of the rows."""
    try:
        plain = {int(k): [int(line) for line in parts] for k, parts in got.items()}
    except (AttributeError, TypeError, ValueError):
        raise Wrong("The answer must be a dict from a line to a list of lines.", program=shown,
                    got=returned(got), spec=FORM) from None  # fmt: skip
    if more := sorted(set(plain) - set(due)):
        at = [row["op"].endswith(("multiply", "mulf", "*")) for row in of if row["line"] == more[0]]
        raise Wrong(f"Line {more[0]} is the result of no softmax.", program=shown, got=str(plain),
                    expected=str(dict(due)), spec=PRODUCT if any(at) else DIVIDED)  # fmt: skip
    if less := sorted(set(due) - set(plain)):
        raise Wrong(f"The softmax with its result in line {less[0]} must be found.", program=shown,
                    got=str(plain), expected=str(dict(due)), spec=FIND)  # fmt: skip
    if plain != due:
        raise Wrong("The lines of the parts are not right.", program=shown, got=str(plain),
                    expected=str(dict(due)), spec=FORM)  # fmt: skip


def shown(some: list[Row]) -> str:
    return "\n".join(f"{k:>3}  {row}" for k, row in enumerate(some))


@st.composite
def writers(draw: st.DrawFn, most: int = 3) -> Writer:
    return Writer(draw(st.integers(0, 1 << 30)), most)


@checks(NAME, given=writers(), examples=150, what="random stages", spec=ALL)
def softmaxes_and_what_only_looks_like_one(found, writer):
    """Rows with softmaxes in both forms, and with what differs in one thing."""
    as_due(found([dict(row) for row in writer.rows]), writer.due, writer.rows,
           f"in the words of {writer.stage}:\n{shown(writer.rows)}")  # fmt: skip


@checks(NAME, spec=[FIND, FORM])
def those_of_the_recorded_texts(found):
    """The two programs of the page, stage by stage."""
    for stage, due in DUE.items():
        for program, right in (("both", due), ("neither", {})):
            read = rows(DUMPS[program][stage])
            as_due(found([dict(row) for row in read]), right, read, f"`{program}` in {stage}")
    return f"{2 * len(DUE)} texts"
