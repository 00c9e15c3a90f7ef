"""Text to tokens (chapter 1).

>>> [t.text for t in tokens("var a<2, 3> = 5.5;  # a remark")]
['var', 'a', '<', '2', ',', '3', '>', '=', '5.5', ';', '']

A name begins with a letter; a number is 12, 12.5, 12. or .5; a remark runs from # to the end of
its line. The last token is empty: the end. Next room: `ast.py`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from course_lib.mlir.toy.source import Place, ToyError

KEYWORDS = ("def", "return", "struct", "var")
TOKEN = re.compile(
    r"""(?P<skip>[ \t\r\n]+|\#[^\n]*)
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![\w.]))
      | (?P<name>[A-Za-z]\w*)
      | (?P<sign>[-+*.,;=<>(){}\[\]])""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True)
class Token:
    """kind: number, name, sign, end, or the keyword itself."""

    kind: str
    text: str
    place: Place

    def __str__(self) -> str:
        return quoted(self.text) if self.text else "the end of the text"


def tokens(text: str) -> list[Token]:
    """All tokens of a program. ToyError for a character or number that cannot be one."""
    result, at, line, start = [], 0, 1, 0
    while at < len(text):
        place = Place(line, at - start + 1)
        match = TOKEN.match(text, at)
        if match is None:
            raise ToyError(_unreadable(text, at), place)
        word, kind = match[0], str(match.lastgroup)
        if kind == "number" and math.isinf(float(word)):
            raise ToyError(f"{quoted(word)} does not fit into a 64-bit float", place)
        if kind != "skip":
            result.append(Token(word if word in KEYWORDS else kind, word, place))
        if "\n" in word:
            line, start = line + word.count("\n"), at + word.rindex("\n") + 1
        at = match.end()
    return [*result, Token("end", "", Place(line, at - start + 1))]


def quoted(text: str) -> str:
    """A piece of a program as a message shows it: of a very long one, its beginning."""
    return repr(text if len(text) <= 30 else text[:27] + "...")


def _unreadable(text: str, at: int) -> str:
    word = re.compile(r"[\w.]*").match(text, at)
    if word and word[0]:
        return f"expected a number such as 2 or 2.5, or a name, got {quoted(word[0])}"
    return f"expected a token of Toy, got the character {text[at]!r}"
