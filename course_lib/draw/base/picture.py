"""What every drawing function returns: a picture that shows wherever it is looked at.

    picture = graph(g)          # the last line of a notebook cell: drawn
    print(picture)              # in a terminal: the same as text
    picture.save("g.svg")       # or .html, or .txt

HTML and SVG are complete in themselves: no kernel, no widget, nothing is fetched. Next room:
`listing.py`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from course_lib.draw.base import style
from course_lib.draw.base.svg import OWN_KEYS, escape, tag


@dataclass(frozen=True, repr=False)
class Picture:
    """`html` is a fragment for a page, `svg` a whole drawing (or empty), `text` says the same."""

    title: str
    html: str
    text: str
    svg: str = ""

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
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        unfinished.write_text(forms[path.suffix], encoding="utf-8")
        unfinished.replace(path)
        return path


def framed(title: str, svg: str, text: str, klass: str = "") -> Picture:
    """A drawing as a picture: its text is one click away.

    It scrolls where it is too large; of the class `cl-plot`, it gets smaller first.
    """
    body = tag(
        "div",
        svg,
        klass=f"cl-scroll {klass or 'cl-drawing'}",
        tabindex=0,
        role="region",
        aria_label=f"{title} (scrolls)",
        **OWN_KEYS,
    )
    summary = tag("summary", "as text", **OWN_KEYS)
    words = tag("details", summary, tag("pre", escape(text)))
    return Picture(title, fragment(body, words), text, svg)


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
