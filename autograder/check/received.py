"""A verdict that comes from another process: is it one?

    fields = received({"exercise": "passes.dce", "kind": "wrong", ...})    # ValueError: it is none

The process that grades a submission is ours, and has looked at what a student made. What it says is
taken as data of a known shape and size; a picture must be a drawing and can hold no script.
`within_limits` makes a verdict fit before it is sent: what an answer says may be of any length.

Next room: verdict.py, what is made of the fields.
"""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from typing import Any

MAX_WORDS = 100_000  # characters of a text
MAX_LIST = 10_000
MAX_PICTURE = 200_000
TEXTS = ("exercise", "kind", "check", "problem", "spec", "program", "got", "expected")
TEXTS += ("error", "code", "printed", "so_far", "about")
LISTS = ("tried", "marked")
LONGEST = {"problem": 2_000}  # characters of a text that a verdict keeps
OTHERS = 30_000  # of every other text: more than `shown` leaves of a program
KEPT, WORD = 200, 400  # texts of a list, and characters of each
TAGS = {"svg", "g", "title", "desc", "style", "path", "rect", "text", "polygon", "tspan"}
TAGS |= {"line", "circle", "ellipse", "polyline"}
HARMFUL = re.compile(r"^on|href|^src", re.IGNORECASE)
SIZES = re.compile(r"(--[a-z-]{1,30}:\d{1,6}px;?)+", re.ASCII)  # in one tag's style
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")
FETCHES = re.compile(r"url\s*\(|@import|expression|[<\\]", re.IGNORECASE)  # in a style sheet


def received(data: Any) -> dict[str, Any]:
    """The same fields, each of its type; lists as tuples."""
    if not isinstance(data, dict):
        raise ValueError("a verdict is an object")
    fields = dict(data)
    for name in TEXTS:
        text = data.get(name, "")
        if not isinstance(text, str) or len(text) > MAX_WORDS:
            raise ValueError(f"{name} is no text of at most {MAX_WORDS:,} characters")
    for name in LISTS:
        if name in data:
            fields[name] = tuple(_texts(data[name], name))
    for name in ("points", "earned"):
        _number(data[name], name)
    if data.get("line") is not None and type(data["line"]) is not int:
        raise ValueError("line is no number")
    for name in ("hidden", "further", "own", "smallest"):
        if type(data.get(name, False)) is not bool:
            raise ValueError(f"{name} is no truth value")
    fields["pictures"] = tuple(_picture(*pair) for pair in data.get("pictures", ()))
    return fields


def within_limits(fields: dict[str, Any]) -> dict[str, Any]:
    """Those texts and lists of a verdict that are too long to be sent, shortened."""
    short: dict[str, Any] = {}
    for name in TEXTS:
        if len(fields[name]) > (most := LONGEST.get(name, OTHERS)):
            short[name] = shortened(fields[name], most)
    for name in LISTS:
        texts = fields[name]
        if len(texts) > KEPT or any(len(text) > WORD for text in texts):
            short[name] = tuple(shortened(text, WORD) for text in texts[:KEPT])
    return short


def shortened(text: str, most: int) -> str:
    """The beginning of a text, and how much is left out."""
    if len(text) <= most:
        return text
    remark = f" ... (of {len(text):,} characters)"
    return text[: most - len(remark)] + remark


def without_addresses(text: str) -> str:
    """`<function f at 0x7f..>` differs from one run to the next, and says nothing."""
    return ADDRESS.sub("", text)


def is_drawing(svg: str) -> bool:
    """An SVG of shapes and text alone: no script, no link, nothing that is fetched."""
    if len(svg) > MAX_PICTURE or not svg.startswith("<svg") or "<!" in svg or "<?" in svg:
        return False
    reader = _Drawing()
    reader.feed(svg)
    reader.close()
    return reader.is_safe


def _texts(values: Any, name: str) -> list[str]:
    if not isinstance(values, (list, tuple)) or len(values) > MAX_LIST:
        raise ValueError(f"{name} is no short list")
    if not all(isinstance(v, str) for v in values) or sum(map(len, values)) > MAX_WORDS:
        raise ValueError(f"{name} is no list of texts")
    return list(values)


def _number(value: Any, name: str) -> None:
    if value is None and name == "earned":
        return
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} is no number")


def _picture(name: Any, svg: Any) -> tuple[str, str]:
    if name not in ("program", "got", "expected") or not isinstance(svg, str):
        raise ValueError("a picture has a name and is SVG")
    if not is_drawing(svg):
        raise ValueError(f"the picture of {name} holds more than a drawing")
    return name, svg


class _Drawing(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.is_safe = True
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_style = tag == "style"
        if tag not in TAGS or not all(_is_harmless(name, value or "") for name, value in attrs):
            self.is_safe = False

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False

    def handle_data(self, data: str) -> None:
        if self.in_style and FETCHES.search(data):
            self.is_safe = False


def _is_harmless(name: str, value: str) -> bool:
    return bool(SIZES.fullmatch(value)) if name == "style" else not HARMFUL.search(name)
