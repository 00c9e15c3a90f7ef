"""A kernel of tinygrad as lines of text: what our renderers write and our programs read.

    %0 = param i32[16] 0            an argument: 16 numbers of type i32
    %1 = special i32 lidx0=8        the number of the lane, 0 to 7
    %2 = index i32 %0 %1            an address
    %3 = load i32 %2                or: load i32 %2 %else %if
    %4 = add i32 %3 %3
    store %2 %4

One operation in a line, its result named by the line's number; then its type, operands, and what
else must be said. `i32[2]` is two numbers in each lane. Loops are `range` and `end`, conditions
`if` and `endif`; a `register` is memory of a lane, a `wmma` a product of tiles by all lanes of a
warp together. tinygrad's own definition is its Python interpreter. Next room: `render.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TYPES: dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    **{f"i{8 << k}": np.dtype(f"i{1 << k}") for k in range(4)},
    **{f"u{8 << k}": np.dtype(f"u{1 << k}") for k in range(4)},
    **{f"f{16 << k}": np.dtype(f"f{2 << k}") for k in range(3)},
}
BINARY = ("add", "sub", "mul", "max", "cdiv", "cmod", "fdiv", "and", "or", "xor", "shl", "shr",
          "cmplt", "cmpne", "cmpeq")  # fmt: skip
UNARY = ("neg", "sqrt", "reciprocal", "trunc", "exp2", "log2", "sin")
_LINE = re.compile(r"(?:%(\d+) = )?(\w+)(?: (\w+)(?:\[(\d+)\])?)?((?: %\d+)*)(?: ([^%]\S*))?")


@dataclass(frozen=True)
class Line:
    """An operation. `name` is the number of its result, -1 if it has none; `size` how many numbers
    of type `kind` it gives in each lane, or, of memory, how many there are; `more` what else."""

    name: int
    op: str
    kind: str
    args: tuple[int, ...]
    size: int = 1
    more: str = ""

    def __str__(self) -> str:
        kind = self.kind + (f"[{self.size}]" if self.size > 1 or self.is_memory else "")
        words = [self.op, *([kind] if kind else []), *(f"%{arg}" for arg in self.args)]
        words += [self.more] if self.more else []
        return (f"%{self.name} = " if self.name >= 0 else "") + " ".join(words)

    @property
    def is_memory(self) -> bool:
        return self.op in ("param", "register")

    @property
    def slot(self) -> int:
        """Of a `param` or `value` (named `n@4`): its place among those that a call brings."""
        return int(self.more.rpartition("@")[2])

    @property
    def dtype(self) -> np.dtype:
        return TYPES[self.kind]


def print_listing(name: str, lines: Sequence[Line]) -> str:
    """The text of a kernel."""
    return "\n".join([f"kernel {name}", *map(str, lines)]) + "\n"


def read_listing(text: str) -> tuple[str, list[Line]]:
    """Name and lines of a kernel. ValueError for a line that is none."""
    title, *rest = text.splitlines() or [""]
    if not title.startswith("kernel "):
        raise ValueError(f"a listing begins with 'kernel NAME', got {title!r}")
    return title.removeprefix("kernel "), [_read(line) for line in rest]


def multiplied(lines: Sequence[Line]) -> set[int]:
    """The slots of the arguments whose numbers go into products of tiles."""
    slots: dict[int, set[int]] = {}
    params: set[int] = set()
    for line in lines:
        used = set().union(*(slots.get(arg, set()) for arg in line.args))
        slots[line.name] = used | ({line.slot} if line.op == "param" else set())
        if line.op == "wmma":
            params |= slots[line.args[0]] | slots[line.args[1]]
    return params


def _read(text: str) -> Line:
    match = _LINE.fullmatch(text)
    if match is None or (match[3] and match[3] not in TYPES):
        raise ValueError(f"not an operation: {text!r}")
    name, op, kind, size, args, more = match.groups()
    numbers = tuple(int(word[1:]) for word in args.split())
    return Line(-1 if name is None else int(name), op, kind or "", numbers, int(size or 1),
                more or "")  # fmt: skip
