"""MLIR's text as tokens, each with its line.

    %0 = arith.addf %a, %b : f32     ->     "%0", "=", "arith.addf", "%a", ",", "%b", ":", "f32"

A tensor's type, a map and a `dense<...>` are one token each. The bytes behind a module, in
{-# ... #-}, are no tokens: they are long, and looked for by their names. Next room:
`statements.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

RESOURCES = re.compile(r"\{-#(.*?)#-\}", re.DOTALL)
RESOURCE = re.compile(r'([\w.$-]+|"[^"]*")\s*:\s*"0x([0-9A-Fa-f]*)"')
TOKEN = re.compile(r"""
    (?P<newline> \n )
  | (?P<space> [ \t\r]+ | //[^\n]* )
  | (?P<token> "(?:[^"\\\n]|\\.)*"
      | affine_map<\([^()\n]*\)\s*->\s*\([^\n]*?\)>
      | dense(?:_resource)?<(?:"[^"\n]*"|[^>\n]*)>
      | tensor<[^<>\n]*>
      | -> | [%#@^!][\w.$-]+(?:\#\d+)?
      | 0x[0-9A-Fa-f]+
      | -?\d+(?:\.\d*(?:[eE][-+]?\d+)?)?
      | [A-Za-z_][\w.$]*
      | [{}()\[\]<>=,:*+?!\#@-] )
""", re.VERBOSE)  # fmt: skip


class Token(NamedTuple):
    """`first` says that it is the first one of its line."""

    text: str
    line: int
    first: bool


def tokens(text: str) -> list[Token]:
    """The tokens of a text without resources. ValueError at what is none."""
    result: list[Token] = []
    line, place, first = 1, 0, True
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            shown = text[place : place + 20].splitlines()[0]
            raise ValueError(f"line {line}: this is no text of MLIR's: {shown!r}")
        place = match.end()
        if match["newline"]:
            line, first = line + 1, True
        elif match["token"]:
            result.append(Token(match["token"], line, first))
            first = False
    return result


def without_resources(text: str) -> tuple[str, dict[str, str]]:
    """The text of the module, and the hexadecimal digits of each resource."""
    blobs: dict[str, str] = {}
    for section in RESOURCES.finditer(text):
        blobs |= {name.strip('"'): digits for name, digits in RESOURCE.findall(section[1])}
    return RESOURCES.sub("", text), blobs
