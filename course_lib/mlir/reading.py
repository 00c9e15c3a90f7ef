"""xDSL's parser, which reads a type that a text repeats only the first time.

    Reader(context, text, "input.mlir").parse_module()

Each operation says all of its types, so most of a program's text is the same few tensors and
memrefs again, and reading these takes half the time. Types never change: one object serves all
places. Next room: `trouble.py`, what to look for before xDSL reads a text.
"""

from __future__ import annotations

import re
from typing import Any

from xdsl.ir import TypeAttribute
from xdsl.parser import Parser

# Without `->`, whose `>` closes nothing.
REPEATED = re.compile(r"(?:memref|tensor)<(?:[^<>-]|<[^<>-]*>)*>")


class Reader(Parser):
    """The parser of a text, with the types that it has read already."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._read: dict[str, TypeAttribute] = {}

    def parse_optional_type(self) -> TypeAttribute | None:
        repeated = REPEATED.match(self.lexer.input.content, self.pos)
        if repeated and repeated[0] in self._read:
            self._resume_from(repeated.end())
            return self._read[repeated[0]]
        type = super().parse_optional_type()
        if repeated and type is not None:
            self._read[repeated[0]] = type
        return type
