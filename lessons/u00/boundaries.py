"""Which form of the line settles what: the student fills it in, then sees where to look.

    settled({"How does the weight lie in memory?": 2, ...})  ->  a table, your form beside ours

Next room: notebooks/u00_tour.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table

FORMS = ("graph", "loops", "LLVM IR", "machine code")
SETTLED = {
    "Which operations run in the same kernel?": (1, "the group that the second pass made"),
    "How does the weight lie in memory?": (2, "pack(x1, ...), in the scheduled loops"),
    "May a product and a sum be rounded together?": (3, "contract, on fmul and fadd"),
    "How many lanes does one instruction have?": (4, "the registers that it names"),
}


def settled(answers: Mapping[str, Any]) -> Picture | None:
    """The forms that were filled in, beside the right ones; a message while one is missing."""
    missing = [question for question in SETTLED if answers.get(question) not in (1, 2, 3, 4)]
    if missing:
        print("Type the number of a form, 1 to 4, in place of the dots:", *missing, sep="\n  ")
        return None
    rows = [
        [question, FORMS[int(answers[question]) - 1], FORMS[form - 1], where]
        for question, (form, where) in SETTLED.items()
    ]
    return table(rows, ["question", "you say", "first settled in", "look for"])
