"""A pipeline that somebody types: which passes are in it, and what they leave.

    typed("cse,one-shot-bufferize{a b=c,d}", names)   ->  ("cse", "one-shot-bufferize{a b=c,d}")
    by_dialect("%0 = arith.constant 1 : i32\\n")       ->  Counter({"arith": 1})

Only passes of a given list are accepted: some of MLIR's write files. Next room: `slides.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

DIALECTS = ("affine", "arith", "bufferization", "builtin", "cf", "func", "index", "linalg", "llvm",
            "memref", "scf", "tensor")  # fmt: skip
ONE = re.compile(r"(?:func\.func\()?([\w-]+)(\{[\w=,\- ]*\})?\)?")
OPTION = re.compile(r"[\w-]+(=[\w-]+(,[\w-]+)*)?")
KIND = re.compile(rf"(?<![!.\w\"#@])({'|'.join(DIALECTS)})\.(?=\w)")
MOST = 40  # passes


def typed(pipeline: str, names: Collection[str]) -> tuple[str, ...]:
    """The passes of a pipeline. ValueError, in words, if one is not among `names`."""
    parts = [part.strip() for part in re.split(r",(?![^{]*\})", pipeline) if part.strip()]
    for part in parts:
        match = ONE.fullmatch(part)
        if match is None or part.count("(") != part.count(")"):
            raise ValueError(f"a pass is a name, perhaps with options in braces, not {part!r}")
        if match[1] not in names:
            raise ValueError(f"no pass of the table is called {match[1]!r}")
        for option in (match[2] or "{}")[1:-1].split():
            if not OPTION.fullmatch(option):
                raise ValueError(f"{option!r} is no option: spaces stand between two of them")
    if len(parts) > MOST:
        raise ValueError(f"a pipeline has at most {MOST} passes here, not {len(parts)}")
    return tuple(parts)


def by_dialect(text: str) -> Counter[str]:
    """How many operations of each dialect a module has, but for the module itself."""
    text = text.replace("llvm.emit_c_interface", "")
    return Counter(KIND.findall(re.sub(r"(?<![.\w])return\b", "func.return", text)))


def lines_with(text: str, pattern: str, most: int = 10) -> str:
    """The lines of a module in which a pattern is found, or the first of them."""
    lines = [line for line in text.splitlines() if re.search(pattern, line)]
    return "\n".join(lines[:most] + [f"... and {len(lines) - most} more"] * (len(lines) > most))
