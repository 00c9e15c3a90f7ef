"""What to look for in a text of MLIR from elsewhere before xDSL 0.74 reads it.

>>> trouble('builtin.module { "toy.print ', 100)
('here begins a string that has no end, or an unknown escape', 17)
>>> trouble("dense<0.0> : tensor<99x99xf64>", 100)
('there is no room for more than 100 elements, here are 9801', 19)

>>> too_large("[[[]]]", 100, 2)
'brackets are nested 3 deep, and at most 2 are allowed'

The first two would be read, after ages: the regular expression of a string tries exponentially many
ways to find an end that is not there, and `dense<0.0>` is filled as soon as it is read. Next room:
`toy/source.py`.
"""

from __future__ import annotations

import math
import re

RISKY = re.compile(
    r"""(?P<remark>//[^\n]*)
      | (?P<string>"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*(?P<end>"?))
      | <(?P<sizes>(?:[0-9]+x)+)""",
    re.VERBOSE | re.ASCII,
)


def trouble(text: str, largest: int) -> tuple[str, int] | None:
    """What is wrong, in words, and where in the text; None if nothing is.

    largest  how many elements a tensor, vector or memref may have
    """
    for match in RISKY.finditer(text):
        if match["string"] and not match["end"]:
            return "here begins a string that has no end, or an unknown escape", match.start()
        if match["sizes"]:
            count = math.prod(int(size[:9]) for size in match["sizes"].split("x")[:-1])
            if count > largest:
                message = f"there is no room for more than {largest} elements, here are {count}"
                return message, match.start()
    return None


def too_large(text: str, longest: int, deepest: int = 30) -> str | None:
    """Why a text takes too long to read, in words: it has more than `longest` characters, or
    brackets in brackets; None if it does not."""
    if len(text) > longest:
        return f"a program has at most {longest:,} characters, this one has {len(text):,}"
    depth = most = 0
    for mark in re.findall(r"->|[][(){}<>]", text):
        depth += (mark in "([{<") - (mark in ")]}>")
        most = max(most, depth)
    if most > deepest:
        return f"brackets are nested {most} deep, and at most {deepest} are allowed"
    return None
