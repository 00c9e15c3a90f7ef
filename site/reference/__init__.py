"""The pages to look things up in, made when the site is built; nothing of them is committed.

    glossary.md          ->  glossary.md       terms; links.py shows them in the margin of units
    the units' sources   ->  bibliography.md   each work once, with links back to who cites it
    the op table         ->  ops/matmul.md     one page for each op
    course_lib/passes    ->  passes/dce.md     one page for each pass
    docstrings           ->  api/...md         one page for each room of course_lib

`write` makes them all. `links.py` is an extension of Sphinx that leads from the units to them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reference import api, bibliography, glossary, op_pages, pass_pages

PAGES = ("glossary", "ops", "passes", "api/index", "bibliography", "genindex")  # for the contents


def write(scratch: Path, glossary_file: Path, units: Sequence[Any]) -> None:
    """Write the pages into `scratch`, and into reference.json what `links.py` has to know.

    `units` are the notebook sources (`autograder.edition.sources.Source`), in their order.
    """
    terms, rooms, works = glossary.terms(glossary_file), api.rooms(), bibliography.works(units)
    pages = {"glossary": glossary.page(glossary_file, terms, units)}
    pages |= {"bibliography": bibliography.page(works)}
    pages |= op_pages.pages() | pass_pages.pages() | api.pages(rooms)
    for name, text in pages.items():
        path = scratch / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    pages_of = op_pages.names() | pass_pages.names()
    imported = {unit.name: api.imported(unit.path, rooms) for unit in units}
    known = {
        "terms": [[term.name, term.marked, term.text] for term in terms],
        "works": {title: work.anchor for work in works for title in work.titles},
        "code": api.names(rooms) | pages_of,
        "imported": {unit: _on_pages(meant, pages_of) for unit, meant in imported.items()},
    }
    (scratch / "reference.json").write_text(json.dumps(known), encoding="utf-8")


def _on_pages(meant: dict[str, str], pages_of: dict[str, str]) -> dict[str, str]:
    """A pass leads to its page, and so does the function that makes a node of an op."""
    found = {}
    for name, full in meant.items():
        room, _, last = full.rpartition(".")
        own = room == "course_lib.ir.graph.build" or room.startswith("course_lib.passes.")
        found[name] = pages_of.get(last, full) if own else full
    return found
