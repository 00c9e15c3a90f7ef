"""What matplotlib writes as SVG, redrawn as one of our pictures.

    <use xlink:href="#m12" style="fill: #0062a3"/>  ->  <path d="..." style="fill:var(--cl-focus)"/>

Three things change. A colour of our palette becomes its variable, so the plot is light or dark as
its page is; any other colour stays. Marks and clips are written in their place, because two plots
in one page must not share an `id`. Numbers keep two decimals. Next room: `labels.py`.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from course_lib.draw.base.style import PALETTE, SANS
from course_lib.draw.base.svg import drawing, escape, tag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIP = "tip: "  # an artist whose gid starts so says the rest when it is pointed at
KEPT = ("d", "x", "y", "transform", "x1", "x2", "y1", "y2", "width", "height", "points")
VARIABLES = {light: f"var(--cl-{name})" for name, (light, _) in PALETTE.items()}
VARIABLES[PALETTE["text"][0]] = "currentColor"


def as_svg(figure: Figure, title: str, description: str) -> str:
    """The figure as SVG. It takes its style from the `sheet` that is in force."""
    file = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the page's fonts have more letters
        figure.savefig(file, format="svg", dpi=72, metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    named = {e.attrib["id"]: e for e in root.iter() if "id" in e.attrib}
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    return drawing(title, description, width, height, [_redrawn(e, named) for e in root])


def _redrawn(element: ElementTree.Element, named: Mapping[str, ElementTree.Element]) -> str:
    kind = _kind(element)
    if kind in ("metadata", "defs"):
        return ""
    attributes: dict[str, object] = {k: _rounded(element.get(k, "")) for k in KEPT}
    style = element.get("style", "")
    if kind == "use":
        mark = named[next(v for k, v in element.items() if k.endswith("href")).lstrip("#")]
        at = f"translate({attributes['x'] or 0} {attributes['y'] or 0})"
        attributes = {"d": _rounded(mark.get("d", "")), "transform": at}
        kind, style = "path", f"{style};{mark.get('style', '')}"
    content = [escape(element.text)] if element.text and element.text.strip() else []
    content += [_redrawn(child, named) for child in element]
    tip = element.get("id", "")
    if tip.startswith(TIP):
        content.insert(0, tag("title", escape(tip.removeprefix(TIP))))
    if kind == "g" and not any(content):
        return ""
    markup = tag(kind, *content, **attributes, style=_coloured(style))
    clip = re.fullmatch(r"url\(#(.+)\)", element.get("clip-path", ""))
    return _clipped(markup, named[clip[1]]) if clip else markup


def _kind(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _rounded(text: str) -> str:
    return re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}", text).strip()


def _coloured(style: str) -> str:
    style = re.sub(r"#[0-9a-fA-F]{6}\b", lambda m: VARIABLES.get(m[0].lower(), m[0]), style)
    style = style.replace("'DejaVu Sans'", SANS)
    return ";".join(part.strip().replace(": ", ":") for part in style.split(";") if part.strip())


def _clipped(markup: str, clip: ElementTree.Element) -> str:
    """Inside a nested drawing, which shows nothing beyond its edges and needs no name."""
    box = next((e for e in clip if _kind(e) == "rect"), None)
    if box is None:
        return markup
    x, y, width, height = (_rounded(box.get(k, "0")) for k in ("x", "y", "width", "height"))
    around = f"{x} {y} {width} {height}"
    return tag("svg", markup, x=x, y=y, width=width, height=height, viewBox=around)
