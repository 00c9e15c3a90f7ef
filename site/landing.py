"""The first page: what one can do at the end, the map, a card for each unit and lab, three ways in.

    page(parts, pictures)     the page as Markdown, with the map and the cards as HTML in it
    pictures(solved, into)    {"u02"}: a thumbnail for each notebook that draws something

What it says of units comes from autograder/edition/atlas.py, and so from the notebooks. A unit that
does not exist yet stands on the map and is no link. Next room: slim.py.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

import nbformat

from autograder.edition.atlas import Part, Unit, drawn
from course_lib.draw.base.svg import escape, tag

WIDE, HIGH, GAP, ROW, LEFT, TOP = 124, 68, 24, 124, 14, 26  # of the map, in pixels
SVG = re.compile(r"<svg\b[^>]*>|</svg>")
TOUR = "One layer of a network as PyTorch, graph, loops, LLVM IR, machine code, and on a chip"
BY_SYSTEM = "@media(prefers-color-scheme:dark)"
SIZE = re.compile(r'\bwidth="(\d+)" height="(\d+)"')


def page(welcome: str, parts: list[Part], thumbnails: set[str], launch: str = "") -> str:
    """`welcome` is the text of welcome.md; `%map`, `%list`, `%tour`, `%cards`, and `%binder`, the
    link `launch` if there is one, give way."""
    text = welcome.replace("%map", _html(course_map(parts)))
    text = text.replace("%binder", _html(f"<p>{launch}</p>") if launch else "")
    text = text.replace("%list", _html(course_list(parts)))
    text = text.replace("%tour", _html(in_both_schemes("tour", "tour", TOUR)))
    return text.replace("%cards", "\n\n".join(_cards(part, thumbnails) for part in parts))


def pictures(solved: Iterable[tuple[str, Path]], tour: Path, into: Path) -> set[str]:
    """Write `tour` and the best picture of each solved notebook into `into`, light and dark; of
    which notebooks there is one."""
    into.mkdir(parents=True, exist_ok=True)
    found = {key: picture for key, path in solved if (picture := best(path))}
    for name, picture in {**found, "tour": tour.read_text(encoding="utf-8")}.items():
        for scheme, when in (("light", "not all"), ("dark", "all")):
            text = picture.replace(BY_SYSTEM, f"@media {when}")
            (into / f"{name}-{scheme}.svg").write_text(text, encoding="utf-8")
    return set(found)


def in_both_schemes(name: str, kind: str, alt: str = "") -> str:
    """The picture that the page's own switch between light and dark goes for. An empty alt says
    that it decorates, so it is written."""
    return "".join(
        f'<img class="{kind} only-{scheme}" src="_static/cards/{name}-{scheme}.svg"'
        f' alt="{escape(alt)}" loading="lazy">'
        for scheme in ("light", "dark")
    )


def best(path: Path) -> str | None:
    """Of a notebook's pictures, the one with most in it that a card can show: about as wide as a
    page, not higher than wide, and small as a file. None if nothing fits."""
    outputs = [o for c in nbformat.read(path, as_version=4).cells for o in c.get("outputs", ())]
    shown = [o.data.get("text/html", "") for o in outputs if "data" in o]
    usable = [svg for text in shown for svg in drawings(text) if _fits_a_card(svg)]
    return max(usable, key=lambda svg: svg.count("<"), default=None)


def drawings(text: str) -> list[str]:
    """Each picture of a piece of HTML; one inside another one belongs to that."""
    found, depth, start = [], 0, 0
    for match in SVG.finditer(text):
        if match[0].endswith("/>"):  # an empty one
            continue
        start = start if depth else match.start()
        depth += -1 if match[0].startswith("</") else 1
        if not depth:
            found.append(text[start : match.end()])
    return found


def _fits_a_card(svg: str) -> bool:
    size = SIZE.search(svg)
    if size is None or len(svg) > 60_000 or "xmlns=" not in svg:
        return False
    wide, high = int(size[1]), int(size[2])
    return 240 <= wide <= 800 and 1 <= wide / high <= 3.5


def course_map(parts: list[Part]) -> str:
    """A row for each part, a box for each unit, an arrow from a unit to what needs it."""
    places = {
        unit.key: (LEFT + column * (WIDE + GAP), TOP + row * ROW)
        for row, part in enumerate(parts)
        for column, unit in enumerate(part.units)
    }
    units = [unit for part in parts for unit in part.units]
    lines = [
        _arrow(places[need], places[key], f"{need} {key}")
        for key, needs in drawn(units).items()
        for need in needs
    ]
    names = [
        tag("text", escape(f"Part {part.numeral}. {part.name}"), x=LEFT, y=TOP + row * ROW - 8,
            klass="map-part")
        for row, part in enumerate(parts)
    ]  # fmt: skip
    wide = max(x for x, _ in places.values()) + WIDE + LEFT
    high = max(y for _, y in places.values()) + HIGH + 10
    boxes = [_box(unit, *places[unit.key]) for unit in units]
    return tag(
        "svg", *lines, *names, *boxes, xmlns="http://www.w3.org/2000/svg", klass="course-map",
        role="group", aria_label="Map of the course: which unit needs which",
        viewBox=f"0 0 {wide} {high}", width=wide, height=high,
    )  # fmt: skip


def _box(unit: Unit, x: float, y: float) -> str:
    shape = tag("rect", x=x, y=y, width=WIDE, height=HIGH, rx=6)
    name = textwrap.wrap(unit.name, 16, max_lines=3, placeholder=" …")
    words = tag("text", escape(unit.key), x=x + 8, y=y + 16, klass="map-key")
    words += "".join(
        tag("text", escape(line), x=x + 8, y=y + 31 + 15 * k) for k, line in enumerate(name)
    )
    if unit.source is None:
        return tag("g", shape, words, klass="map-planned", data_key=unit.key)
    return tag(
        "a", shape, words, href=f"{unit.source.name}.html", data_key=unit.key,
        data_needs=" ".join(unit.needs), data_about=about(unit),
        aria_label=f"{unit.key} {unit.name}. {about(unit)}",
    )  # fmt: skip


def about(unit: Unit) -> str:
    """What hovering over a unit shows."""
    needs = f" Needs {', '.join(unit.needs)}." if unit.needs else " Needs no other unit."
    return f"{unit.question} About {unit.minutes} minutes.{needs} {unit.changed}"


def _arrow(start: tuple[float, float], end: tuple[float, float], between: str) -> str:
    """A curve from the lower edge of one box to the upper edge of another; sideways in a row."""
    (x, y), (u, v) = start, end
    if y == v:
        bend = 14 if u - x > WIDE + GAP else 0
        x, y, u, v = x + WIDE, y + HIGH / 2, u, v + HIGH / 2
        if bend:
            x, y, u, v = x - 20, y + HIGH / 2, u + 20, v + HIGH / 2
        path = f"M{x} {y}C{x} {y + bend} {u} {v + bend} {u} {v}"
    else:
        column, x, u = round((x - LEFT) / (WIDE + GAP)), x + WIDE / 2, u + WIDE / 2
        path = f"M{x} {y + HIGH}" + _down(x, y, u, v, 4 * column - 8)
    return tag("path", d=path, klass="map-arrow", data_between=between)


def _down(x: float, y: float, u: float, v: float, lane: float) -> str:
    """From under the box at height y to the top of the one at v. Rows in between are passed in the
    gap beside the column of the target, each source in a lane of its own, so behind no box."""
    if v - y < 1.5 * ROW:
        return f"C{x} {y + HIGH + 40} {u} {v - 44} {u} {v}"
    side = 1 if x > u or u - WIDE / 2 < LEFT + 1 else -1
    gap = u + side * (WIDE + GAP) / 2 + lane
    top, bottom = y + ROW, v - ROW + HIGH
    return (
        f"C{x} {y + HIGH + 34} {gap} {top - 34} {gap} {top}V{bottom}"
        f"C{gap} {bottom + 34} {u} {v - 34} {u} {v}"
    )


def course_list(parts: list[Part]) -> str:
    """What the map says, for a screen that is too narrow for it: a fold for each unit."""
    names = {unit.key: unit.name for part in parts for unit in part.units}
    groups = []
    for part in parts:
        title = tag("p", escape(f"Part {part.numeral}. {part.name}"), klass="map-list-part")
        units = "".join(tag("li", _row(unit, names)) for unit in part.units)
        groups.append(f"{title}<ul>{units}</ul>")
    return tag("div", *groups, klass="map-list")


def _row(unit: Unit, names: dict[str, str]) -> str:
    name = f"{tag('b', escape(unit.key))} {escape(unit.name)}"
    if unit.source is None:
        return tag("span", name, klass="map-planned")
    needs = ", ".join(f"{need} {names[need]}" for need in unit.needs) or "no other unit"
    said = "".join(
        tag("p", escape(words))
        for words in (unit.question, unit.changed, f"{unit.minutes} minutes. Needs {needs}.")
    )
    link = tag("p", tag("a", f"To {escape(unit.key)}", href=f"{unit.source.name}.html"))
    return f"<details><summary>{name}</summary>{said}{link}</details>"


def _cards(part: Part, thumbnails: set[str]) -> str:
    there = [one for unit in part.units for one in (unit, *unit.labs)]
    cards = [_card(one, thumbnails) for one in there if one.source]
    planned = [f"{unit.key} {unit.name}" for unit in part.units if unit.source is None]
    lines = [f"### Part {part.numeral}. {part.name}"]
    if cards:
        lines.append(_html(f'<div class="cards">{"".join(cards)}</div>'))
    if planned:
        lines.append(f"Planned: {'; '.join(planned)}.")
    return "\n\n".join(lines)


def _card(unit: Unit, thumbnails: set[str]) -> str:
    assert unit.source
    image = in_both_schemes(unit.key, "thumbnail") if unit.key in thumbnails else ""
    lab = unit.source.is_lab
    name = f"Lab · {unit.question}" if lab else f"{unit.key} · {unit.name}"
    title = f'<p class="card-name">{tag("a", escape(name), href=f"{unit.source.name}.html")}</p>'
    asked = "" if lab else f"<p>{escape(unit.question)}</p>"
    facts = f'<p class="card-facts">{unit.minutes} minutes · {escape(unit.source.worth())}</p>'
    labelled = f"<p>{escape(unit.changed)}</p>"
    return f'<div class="course-card">{image}{title}{asked}{labelled}{facts}</div>'


def _html(markup: str) -> str:
    return f"```{{raw}} html\n{markup}\n```"
