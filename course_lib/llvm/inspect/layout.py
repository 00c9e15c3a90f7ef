"""Where the parts of a type lie in memory: what `getelementptr` adds up.

    { i8, [3 x float], i32 }     i8 at byte 0, the floats at 4, 8 and 12, i32 at 16: 20 bytes

A field starts at a multiple of its own alignment, and a structure is as long as a multiple of the
largest one. Types are texts without names, as LLVM IR writes them; vectors are not known. Next
room: `listing.py`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

SCALARS = {"float": 4, "double": 8, "ptr": 8, "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
DEEPEST = 20  # types within types
_TOKENS = re.compile(r"[{}\[\],]|\d+ x|[a-z]\w*")


@dataclass(frozen=True)
class Layout:
    """A type in memory, in bytes. `fields` of a structure: where each starts, and what it is;
    `element` of an array."""

    size: int
    align: int
    fields: tuple[tuple[int, Layout], ...] = ()
    element: Layout | None = None

    def part(self, index: int) -> tuple[int, Layout]:
        """Where a part lies, and what it is. ValueError if there is none."""
        if self.element is not None:
            return index * self.element.size, self.element
        if not 0 <= index < len(self.fields):
            raise ValueError(f"the type has no part {index}")
        return self.fields[index]


@functools.lru_cache(maxsize=256)
def layout(text: str) -> Layout:
    """The layout of a type. ValueError for what is no type, or not known here.

    >>> layout("[3 x { i8, float }]").size
    24
    """
    tokens = _TOKENS.findall(text)
    if "".join(tokens).replace(" ", "") != re.sub(r"\s", "", text):
        raise ValueError(f"`{text}` is no type that is known here")
    tokens.reverse()
    parsed = _next_type(tokens, text, 0)
    if tokens:
        raise ValueError(f"`{text}` is no type that is known here")
    return parsed


def _next_type(tokens: list[str], text: str, depth: int) -> Layout:
    """The next type, whose tokens are taken off the end."""
    first = tokens.pop() if tokens else ""
    if first in SCALARS:
        return Layout(SCALARS[first], SCALARS[first])
    parsed = None
    if depth < DEEPEST and first == "[" and tokens and tokens[-1].endswith(" x"):
        count = int(tokens.pop().split()[0])
        element = _next_type(tokens, text, depth + 1)
        parsed = Layout(count * element.size, element.align, (), element)
    elif depth < DEEPEST and first == "{":
        parts = [_next_type(tokens, text, depth + 1)]
        while tokens and tokens[-1] == ",":
            tokens.pop()
            parts.append(_next_type(tokens, text, depth + 1))
        parsed = _structure(parts)
    if parsed is None or not tokens or tokens.pop() != {"[": "]", "{": "}"}[first]:
        raise ValueError(f"`{text}` is no type that is known here")
    return parsed


def _structure(parts: list[Layout]) -> Layout:
    fields, end, align = [], 0, 1
    for part in parts:
        start = -(-end // part.align) * part.align
        fields.append((start, part))
        end, align = start + part.size, max(align, part.align)
    return Layout(-(-end // align) * align, align, tuple(fields))
