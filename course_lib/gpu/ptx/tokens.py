"""The words and signs of a PTX text, with their lines.

    tokens("add.s32 %r1, %r2, 4;")   ->   add.s32  %r1  ,  %r2  ,  4  ;

Next room: `scope.py`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.gpu.ptx.parts import PtxError

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"[^"\n]*")
      | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?
                  |\d+\.\d*(?:[eE][-+]?\d+)?|\d+U?\b)
      | (?P<word>[.%$_A-Za-z][\w$.%]*(?:::\w+[\w$.]*)*)
      | (?P<sign>[{}()\[\],;:|@!<>=+*-])""",
    re.X | re.S,
)

SPECIALS = re.compile(
    r"%(tid|ntid|ctaid|nctaid)\.[xyz]|%(laneid|warpid|nwarpid|lanemask_(eq|le|lt|ge|gt)|smid|nsmid)"
)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    line: int


def tokens(text: str) -> Iterator[Token]:
    line, at = 1, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise PtxError(f"{text[at]!r} has no meaning in PTX", line)
        if match.lastgroup != "skip":
            yield Token(str(match.lastgroup), match[0], line)
        line += match[0].count("\n")
        at = match.end()


def number(text: str) -> int | float:
    """0f3F800000 is 1.0, by its bits."""
    lower = text.lower()
    if lower.startswith("0f") and len(text) == 10:
        return struct.unpack(">f", bytes.fromhex(text[2:]))[0]
    if lower.startswith("0d") and len(text) == 18:
        return struct.unpack(">d", bytes.fromhex(text[2:]))[0]
    if "." in text:
        return float(text)
    return int(lower.rstrip("u"), 0) if lower.startswith("0x") else int(lower.rstrip("u"))
