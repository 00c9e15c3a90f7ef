"""Names that MLIR accepts: `%layers.0.weight` stays, `%0` becomes `%v0`.

    ssa_names({relu: "0", x: "t1"})     ->     {relu: "%v0", x: "%t1_"}

Next room: `weights.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")
_OWN = re.compile(r"(acc|in|[acefgilprst])\d+")  # what the writer calls values of its own


def ssa_names(names: Mapping[Key, str]) -> dict[Key, str]:
    """A name for each value, distinct as the given ones are, and none that the writer makes."""
    new_names: dict[Key, str] = {}
    taken: set[str] = set()
    for key, name in names.items():
        name = "".join(c if c.isascii() and (c.isalnum() or c in "_.$") else "_" for c in name)
        name = f"v{name}" if name[:1].isdigit() else name
        while name in taken or _OWN.fullmatch(name):
            name += "_"
        taken.add(name)
        new_names[key] = f"%{name}"
    return new_names


def symbol(name: str) -> str:
    """The name of a function."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_.$") else "_" for c in name)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
