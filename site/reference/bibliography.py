"""The bibliography: what the units' lists "Where to read on" name, each work once.

    - Goto and van de Geijn, *Anatomy of High-Performance Matrix Multiplication*, 2008: why ...

A work is authors, a *title* and a year. Two units may shorten a title differently; the longest form
is shown, and each unit that names it stands below with its own sentence. What has no year is
documentation, and stands apart as it is. The notebooks are the one source. Next: `links.py`, which
leads from a title in a unit to its place here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

HEADING = "## Where to read on"
ANCHOR = "where-to-read-on"
YEAR = r"\b(?:19|20)\d\d\b(?!\.\d)"
MORE = r"(?: \((?:arXiv|in 20)[^)]*\))?"
WORK = re.compile(rf"\*(?P<title>[^*]+)\*(?P<tail>(?:arXiv:|[^*:;]){{0,110}}?{YEAR}\)?{MORE})")
OWN_WORDS = re.compile(r"(?<=[a-z)])[.:;] (?=[A-Z])|^[,;] (?:and )?|; ")  # before the next authors
HEAD = re.compile(r"((?:\*[^*]*\*|<[^>]*>|[^*<:.]|[:.](?! ))*)(?:[:.] |$)")


@dataclass
class Work:
    """A work: all titles that units give it, its longest reference, who names it and why."""

    key: str
    reference: str = ""
    titles: list[str] = field(default_factory=list)
    said: list[tuple[Any, str]] = field(default_factory=list)
    dated: bool = True

    @property
    def anchor(self) -> str:
        return "work-" + re.sub(r"[^a-z0-9]+", "-", self.key.lower()).strip("-")


def works(units: Sequence[Any]) -> list[Work]:
    """All that the units name, in the order of the alphabet."""
    found: dict[str, Work] = {}
    for unit in units:
        for item in reading(unit.path.read_text(encoding="utf-8")):
            for authors, title, tail, note in _named(item):
                work = _same(found, authors, title, tail)
                work.titles.append(title)
                work.said.append((unit, note))
                reference = f"{authors}, *{title}*{tail}" if tail else title
                work.reference = max(work.reference, reference, key=len)
    return sorted(
        found.values(),
        key=lambda work: _surname(work.reference) if work.dated else _plain(work.reference),
    )


def reading(text: str) -> list[str]:
    """The items of a unit's list, each in one line."""
    _, _, section = text.partition(HEADING)
    section = section.split("\n## ")[0].split("\n```")[0]
    items = re.split(r"^- ", section, flags=re.MULTILINE)[1:]
    return [" ".join(item.split("\n\n")[0].split()) for item in items]


def _named(item: str) -> Iterator[tuple[str, str, str, str]]:
    """Authors, title, what follows it and the unit's words about it, for each work of an item. What
    is said of several works together stands behind the last of them."""
    matches = list(WORK.finditer(item))
    note = item[matches[-1].end() :] if matches else ""
    shared = re.sub(r"^ \([^)]*\)", "", note)
    found = []
    for k, match in reversed(list(enumerate(matches))):
        before = item[matches[k - 1].end() if k else 0 : match.start()]
        authors = OWN_WORDS.split(before)[-1]
        said = before[: len(before) - len(authors)] if k else ""
        authors = re.sub(r"^(?:[\s,;]|and )+|[\s,]+$|'s $", "", authors)
        found.append((authors, match["title"], match["tail"], note.strip(" :,.;")))
        note = said if re.search(r"\w{4}", said) else shared * ("and" in said)
    if not matches and not item.startswith("`") and (head := HEAD.match(item)):
        yield "", head[1], "", item[head.end() :].strip(" .")
    yield from reversed(found)


def _same(found: dict[str, Work], authors: str, title: str, tail: str) -> Work:
    """The work of this title; a shorter title is the same work if the first author is the same."""
    dated = bool(re.search(YEAR, tail))
    short = _plain(re.split(r"[:,(]", title)[0] if dated else title)
    for work in found.values():
        theirs = [_plain(re.split(r"[:,(]", other)[0]) for other in work.titles]
        if short in theirs and _surname(authors) == _surname(work.reference) * dated:
            return work
    key = f"{_surname(authors)}-{short}".strip("-")
    return found.setdefault(key, Work(key, dated=dated))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.lower()).strip()


def _surname(reference: str) -> str:
    """The first author's last name, in small letters: what references are sorted by."""
    authors = reference.split("*")[0].strip(" ,") or reference
    first = re.split(r",| and | et al", authors)[0]
    return _plain(first.removesuffix("'s").strip().split(" ")[-1])


def page(found: Sequence[Work]) -> str:
    """The works with authors, then manuals and documentation."""
    head = (
        "# Bibliography\n\nWhat the units name under *Where to read on*, each work once. Below it "
        "stand the units that name it, with what they say of it.\n"
    )
    groups = {"Papers and books": True, "Manuals and documentation": False}
    parts = [head]
    for title, dated in groups.items():
        mine = [work for work in found if work.dated == dated]
        parts += [f"## {title}\n", *map(_entry, mine)]
    return "\n".join(parts)


def _entry(work: Work) -> str:
    seen = {unit.name: (unit, note) for unit, note in work.said}
    lines = [
        f"  - [{unit.key}]({name}.ipynb#{ANCHOR}){_note(note)}"
        for name, (unit, note) in seen.items()
    ]
    return f"({work.anchor})=\n- {work.reference.strip()}.\n" + "\n".join(lines) + "\n"


def _note(note: str) -> str:
    return f": {note}." if note else ""
