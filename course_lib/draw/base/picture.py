"""What every drawing function returns: a picture that shows wherever it is looked at.

    picture = graph(g)          # the last line of a notebook cell: drawn
    print(picture)              # in a terminal: the same as text
    picture.save("g.svg")       # or .html, or .txt

HTML and SVG are complete in themselves: no kernel, no widget, nothing is fetched. Next room:
`listing.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from course_lib.draw.base import style
from course_lib.draw.base.svg import OWN_KEYS, SANS_WIDTH, drawing, escape, label, tag
from course_lib.files import write

MARGIN = 14.0  # around a drawing, px


class Picture:
    """`html` is a fragment for a page, `svg` a whole drawing (or empty), `text` says the same."""

    def __init__(self, title: str, html: str, text: str, svg: str = "") -> None:
        self.title, self.html, self.text, self.svg = title, html, text, svg

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text

    @property
    def page(self) -> str:
        """A whole HTML page with this picture in it."""
        return page(self.title, self.html)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `.svg`, `.html` or `.txt`, by the suffix. Never leaves half a file."""
        path = Path(path)
        forms = {".svg": self.svg, ".html": self.page, ".txt": self.text.rstrip("\n") + "\n"}
        if path.suffix not in forms:
            raise ValueError(f"{path.name}: a picture is saved as .svg, .html or .txt")
        if not forms[path.suffix]:
            raise ValueError(f"{path.name}: this one is HTML, not a drawing; save it as .html")
        return write(path, forms[path.suffix])


def sketch(
    title: str, summary: str, content: Iterable[str], right: float, low: float, text: str
) -> Picture:
    """A drawing under its title and its summary, which take 48 px; it ends at `right` and `low`."""
    head = [label(MARGIN, 24, title, "cl-h"), label(MARGIN, 42, summary, "cl-c cl-m")]
    right = max(right, MARGIN + SANS_WIDTH * max(14 * len(title), 12 * len(summary)))
    svg = drawing(title, summary, right + MARGIN, low + MARGIN, [*head, *content])
    return framed(title, svg, text)


def framed(title: str, svg: str, text: str, klass: str = "") -> Picture:
    """A drawing as a picture: its text is one click away.

    Where it is too large it gets smaller, down to three quarters of its size, and then scrolls; of
    the class `cl-plot`, it gets as small as is needed, down to 22 rem.
    """
    body = scrolling(title, svg, klass or "cl-drawing")
    summary = tag("summary", "as text", **OWN_KEYS)
    words = tag("details", summary, tag("pre", escape(text)))
    return Picture(title, fragment(body, words), text, svg)


def scrolling(title: str, content: str, klass: str = "") -> str:
    """A part of a page that scrolls where its content is too large, by keys too."""
    name = {"role": "region", "aria_label": f"{title} (scrolls)"}
    return tag("div", content, klass=f"cl-scroll {klass}".strip(), tabindex=0, **name, **OWN_KEYS)


def fragment(*content: str, css: str = "") -> str:
    """Markup with the style that it needs, to be placed anywhere in a page."""
    sheet = tag("style", style.BASE + style.HTML + css)
    return tag("figure", sheet, *content, klass="cl cl-fig")


def page(title: str, *fragments: str) -> str:
    """A complete HTML page, light or dark as the reader's system is."""
    head = (
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>'
        '<meta name="color-scheme" content="light dark"/>'
        f"<title>{escape(title)}</title>"
        f"<style>{style.BASE}body{{margin:1.5rem;font:15px/1.5 {style.SANS}}}</style>"
    )
    body = f'<body class="cl">{"".join(fragments)}</body>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>{body}</html>\n'
