"""What both text forms need to be read: tokens one after the other, and errors with a line.

    class _Reader(Reader):
        tokens_of = re.compile(r"\\s+|(?P<word>\\w+)|(?P<mark>[(),])")  # a group names a kind

A recursive-descent parser on top of it has one method for each rule of its grammar:
`graph/parse.py` for graphs, `loops/parse.py` for kernels. Next room: `graph/node.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, ClassVar


class Reader:
    """Tokens as (kind, text, position), the last of them of the kind "end"."""

    tokens_of: ClassVar[re.Pattern[str]]

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        position = 0
        while position < len(text):
            match = self.tokens_of.match(text, position)
            if not match:
                raise self.error(f"cannot read {text[position : position + 12]!r}", position)
            if match.lastgroup:
                self.tokens.append((match.lastgroup, match[0], position))
            position = match.end()
        self.tokens.append(("end", "end of text", len(text)))

    def error(self, message: str, position: int | None = None) -> ValueError:
        """An error at the next token, or at a position, that shows its line."""
        position = self.tokens[self.at][2] if position is None else position
        line = self.text.count("\n", 0, position) + 1
        lines = self.text.splitlines() or [""]
        source = lines[min(line, len(lines)) - 1].strip()
        return ValueError(f"line {line}: {message}\n    {source[:160]}")

    def kind(self) -> str:
        return self.tokens[self.at][0]

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def take(self, *wanted: str) -> str:
        """The next token's text; `wanted` are kinds or exact texts."""
        kind, text, _ = self.tokens[self.at]
        if wanted and kind not in wanted and text not in wanted:
            raise self.error(f"expected {' or '.join(wanted)}, found {text!r}")
        self.at += 1
        return text

    def number(self, text: str) -> int | float:
        """What the last token says: a whole number has neither point nor exponent."""
        number = float(text)
        if math.isinf(number) and "inf" not in text:
            raise self.error(f"{text} is too large for any type", self.tokens[self.at - 1][2])
        return int(text) if re.fullmatch(r"-?\d+", text) else number

    def accept(self, text: str) -> bool:
        """Step over `text` if it comes next. A string token is never punctuation."""
        if self.peek() != text or self.kind() == "string":
            return False
        self.at += 1
        return True

    def separated(self, item: Callable[[], Any], close: str) -> list[Any]:
        """item ("," item)* close, possibly empty."""
        items: list[Any] = []
        while not self.accept(close):
            if items:
                self.take(",")
            items.append(item())
        return items

    def expect_end(self) -> None:
        if self.kind() != "end":
            raise self.error(f"expected nothing more, found {self.peek()!r}")
