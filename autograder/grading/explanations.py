"""What a student wrote as an explanation: all of it, and nothing else.

    explanations(cells, ["u02.zero"], prose)    ->  {"u02.zero": "Because ..."}, notes

Its cell is known by its id or else by the heading that stands before it. Cells that the student put
below it, or made by splitting or copying it, belong to it; a cell of the course never does, so of
an explanation that was deleted nothing is left: the note says so.

Next room: program.py, what else is taken from a notebook.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from autograder.edition.sources import TEXT_STUB, grade_id

Cell = tuple[str, str, str]  # kind, source, ids
HEADING = "#### Exercise `"
# The ids that edition/sources.py gives to the course's cells, besides those of answers.
OURS = re.compile(r"c-[0-9a-f]{12}(-\d+)?|.+-(title|check)")


def explanations(
    cells: list[Cell], names: Iterable[str], prose: Collection[str]
) -> tuple[dict[str, str], list[str]]:
    """The texts by exercise, and a note on each whose cell is gone. `prose` holds the texts of the
    course's own Markdown cells, by which these are known where an editor has dropped the ids."""
    texts: dict[str, str] = {}
    notes: list[str] = []
    for name in names:
        title, wanted = f"{HEADING}{name}`", grade_id(name)
        own = dict.fromkeys(k for k, (_, _, ids) in enumerate(cells) if wanted in ids.split())
        begins = own or [k + 1 for k, cell in enumerate(cells) if cell[1].startswith(title)]
        places: dict[int, None] = {}
        for begin in begins:
            if begin not in places:  # each cell is looked at once, however many copies there are
                places |= dict.fromkeys(_belonging(cells, begin, own, prose))
        written = [cells[k][1].strip() for k in places]
        parts = dict.fromkeys(text for text in written if text not in ("", TEXT_STUB))
        if parts:
            texts[name] = "\n\n".join(parts)
        elif not places:
            notes.append(f"{name}: its cell was deleted; nothing was handed in")
    return texts, notes


def _belonging(
    cells: list[Cell], begin: int, own: Collection[int], prose: Collection[str]
) -> Iterator[int]:
    """The explanation's cell, if there is one, and the student's own ones below it."""
    for place in range(begin, len(cells)):
        kind, source, ids = cells[place]
        text = source.strip()
        is_ours = text in prose or text.startswith(HEADING) or any(map(OURS.fullmatch, ids.split()))
        if place not in own and (kind != "markdown" or is_ours):
            return
        yield place
