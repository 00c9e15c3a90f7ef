"""The glossary: one file of terms, which becomes a page and the notes beside the text of units.

    race, races (u11)
    : Two accesses to the same bytes, one of them a write, that nothing puts in order.

The page is Sphinx's own glossary, so each term is in the index and in the search. Next:
`links.py`, which marks the terms in the units.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENTRY = re.compile(r"^(!?)(\S[^\n]*) \((u\d\d)\)\n: ([^\n]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    """One entry. `forms` are the words that mean it, its name first; `marked` are those that are
    looked for in the units."""

    forms: tuple[str, ...]
    marked: tuple[str, ...]
    unit: str
    text: str

    @property
    def name(self) -> str:
        return self.forms[0]


def terms(file: Path) -> list[Term]:
    """The entries of the file. ValueError if a block of it is none, or a word is defined twice."""
    _, *blocks = re.split(r"\n\n+(?=[^\n]+\n: )", file.read_text(encoding="utf-8").strip())
    found = [_term(block) for block in blocks]
    forms = [form for term in found for form in term.forms]
    if twice := sorted({form for form in forms if forms.count(form) > 1}):
        raise ValueError(f"{file.name} defines twice: {', '.join(twice)}")
    return found


def _term(block: str) -> Term:
    match = ENTRY.fullmatch(block)
    if not match:
        raise ValueError(f"no entry of the glossary: {block!r}")
    forms = tuple(form.strip() for form in match[2].split(","))
    return Term(forms, forms[1:] if match[1] else forms, match[3], match[4])


def page(file: Path, found: Sequence[Term], units: Sequence[Any]) -> str:
    """The head of the file, and its entries in the order of the alphabet."""
    names = {unit.key: unit.name for unit in units}
    head = file.read_text(encoding="utf-8").split("<!--")[0]
    entries = []
    for term in sorted(found, key=lambda term: term.name.lower()):
        where = f" ({{doc}}`{term.unit} <{names[term.unit]}>`)" if term.unit in names else ""
        entries.append(f"{term.name}\n  {term.text}{where}\n")
    return f"{head}\n````{{glossary}}\n" + "\n".join(entries) + "````\n"
