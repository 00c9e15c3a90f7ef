"""Writing SVG and HTML as text, with everything that a user named escaped.

    tag("rect", x=1, width=2.50, klass="cl-n")  ->  <rect x="1" width="2.5" class="cl-n"/>

No picture uses an `id`, so any number of them can stand in one page. Next room: `shapes.py`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from course_lib.draw.base import style

MONO_WIDTH = 0.602  # of the font size: the widest of the usual monospaced fonts
SANS_WIDTH = 0.61  # an upper estimate for ordinary text

# JupyterLab leaves keys to an element that says so; else arrows and Enter would move its cells.
OWN_KEYS = {"data_lm_suppress_shortcuts": "true"}

# Not allowed in XML, whatever the escape.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: object) -> str:
    """Text that means itself in XML and HTML, in content and in attributes."""
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True)


def tag(element: str, /, *content: str, **attributes: object) -> str:
    """An element. `content` is markup (escape it first!); attributes are escaped here.

    `klass` stands for `class`, and an underscore for a hyphen; None leaves an attribute out.
    """
    given = "".join(
        f' {key.replace("klass", "class").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    return (
        f"<{element}{given}>{''.join(content)}</{element}>" if content else f"<{element}{given}/>"
    )


def _value(value: object) -> str:
    return number(value) if isinstance(value, (int, float)) else escape(value)


def number(value: float) -> str:
    """A coordinate: one decimal is a tenth of a pixel."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def points(*coordinates: float) -> str:
    return " ".join(number(c) for c in coordinates)


def label(x: float, y: float, text: object, klass: str = "") -> str:
    return tag("text", escape(text), x=x, y=y, klass=klass)


def squares(
    x: float, y: float, side: float, rows: Sequence[Sequence[tuple[str, object]]], gap: float = 0
) -> list[str]:
    """Rows of squares from (x, y): of each its class, and the words in its middle."""
    content = []
    for i, row in enumerate(rows):
        for j, (klass, words) in enumerate(row):
            left, top, wide = x + j * side, y + i * side, side - gap
            content.append(tag("rect", x=left, y=top, width=wide, height=wide, klass=klass))
            if words != "":
                middle = left + side / 2, top + side / 2 + 3.5
                content.append(label(*middle, words, "cl-s cl-mid"))
    return content


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters; the middle gives way, for names differ at their ends."""
    if len(text) <= limit:
        return text
    left = (limit - 1) * 2 // 3
    return f"{text[:left]}…{text[len(text) - (limit - 1 - left) :]}"


def drawing(
    title: str, description: str, width: float, height: float, content: Iterable[str]
) -> str:
    """A whole picture, which also stands alone as a file."""
    return tag(
        "svg",
        tag("title", escape(title)),
        tag("desc", escape(description)),
        tag("style", style.BASE + style.SVG),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        klass="cl",
        role="img",
        aria_label=f"{title}. {description}" if description else title,
        width=round(width),
        height=round(height),
        style=f"--cl-width:{round(width)}px",
        viewBox=f"0 0 {round(width)} {round(height)}",
    )
