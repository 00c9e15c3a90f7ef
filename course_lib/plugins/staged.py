"""Values between kernels as lines of text: what is computed, stored, and read again.

    x = param int8 16          an argument: 16 numbers of type int8
    i = range 16               counts from 0 to 15
    a = index x i              one element
    b = cast a int32           low bits, as in C
    c = mul b 3                also add, max, lt, where; an operand may be a number
    s = stage c i              a kernel stores c for every i; `local` keeps it within its kernel
    j = range 16
    t = index s j              another kernel reads it
    u = sum t j                the sum over all j

These are tinygrad's operations as they stand between its ranges and its kernels. The value of a
program is that of its last line, for all ranges that are open there. Next room: `rewriting.py`,
which turns the lines into tinygrad's own operations and back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

KINDS = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    "float32",
)
ELEMENTWISE = {"add": 2, "mul": 2, "max": 2, "lt": 2, "where": 3}
STORED = ("stage", "local")
LINES, ELEMENTS = 200, 1 << 16
_NAME = re.compile(r"[A-Za-z_]\w{0,30}")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,12})?")
Operand = str | int | float


@dataclass(frozen=True)
class Staged:
    """A line: its name, its operation, what it reads, and a type or size that it names."""

    name: str
    op: str
    operands: tuple[Operand, ...]
    kind: str = ""
    size: int = 0

    def __str__(self) -> str:
        words = [self.kind] if self.op == "param" else []
        words += map(str, self.operands)
        words += [self.kind] if self.op == "cast" else []
        words += [str(self.size)] if self.op in ("param", "range") else []
        return " ".join([self.name, "=", self.op, *words])


def read_staged(text: str) -> list[Staged]:
    """The lines of a program. ValueError for a line that is none, or that reads what is not above
    it."""
    lines = [line for line in (row.split("#")[0].strip() for row in text.splitlines()) if line]
    if not 0 < len(lines) <= LINES:
        raise ValueError(f"a program has 1 to {LINES} lines, this one has {len(lines)}")
    by_name: dict[str, Staged] = {}
    for line in lines:
        line_read = _read(line)
        unknown = [x for x in line_read.operands if isinstance(x, str) and x not in by_name]
        if line_read.name in by_name or unknown:
            why = f"{unknown[0]} is not above it" if unknown else f"there are two {line_read.name}"
            raise ValueError(f"{why}: {line[:80]!r}")
        by_name[line_read.name] = line_read
    return list(by_name.values())


def _read(line: str) -> Staged:
    name, _, rest = (part.strip() for part in line.partition("="))
    op, *words = rest.split()[:12] or [""]
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a line: {line[:80]!r}")
    if op == "param" and len(words) == 2 and words[0] in KINDS and words[1].isdecimal():
        return Staged(name, op, (), words[0], _size(words[1]))
    if op == "range" and len(words) == 1 and words[0].isdecimal():
        return Staged(name, op, (), size=_size(words[0]))
    if op == "cast" and len(words) == 2 and words[1] in KINDS:
        return Staged(name, op, (_operand(words[0], line),), words[1])
    if len(words) == ELEMENTWISE.get(op, -1) or (
        op in ("index", "sum", *STORED) and len(words) > 1
    ):
        return Staged(name, op, tuple(_operand(word, line) for word in words))
    if op in ("index", "sum", *STORED):
        raise ValueError(f"{op} takes what it reads, and at least one range: {line[:80]!r}")
    raise ValueError(f"not a line: {line[:80]!r}")


def _size(word: str) -> int:
    if not 0 < int(word[:9]) <= ELEMENTS or len(word) > 9:
        raise ValueError(f"a size is from 1 to {ELEMENTS}, got {word[:20]}")
    return int(word)


def _operand(word: str, line: str) -> Operand:
    if _NUMBER.fullmatch(word):
        return float(word) if "." in word else int(word)
    if not _NAME.fullmatch(word):
        raise ValueError(f"{word[:30]!r} is neither a name nor a number: {line[:80]!r}")
    return word


def run_staged(lines: Sequence[Staged], given: Mapping[str, np.ndarray]) -> np.ndarray:
    """The value of the last line: an array with an axis for each range, of size 1 where the value
    does not depend on it. Whole numbers wrap. ValueError where something does not fit."""
    ranges = [line.name for line in lines if line.op == "range"]
    sizes = {line.name: line.size for line in lines}
    if prod(sizes[name] for name in ranges) > ELEMENTS * 16:
        raise ValueError("these ranges are too large together")
    known: dict[str, np.ndarray] = {}
    for line in lines:
        operands = [known[x] if isinstance(x, str) else x for x in line.operands]
        axes = [ranges.index(str(x)) for x in line.operands[1:] if x in ranges]
        if line.op == "range":
            shape = [line.size if name == line.name else 1 for name in ranges]
            value = np.arange(line.size, dtype=np.int64).reshape(shape)
        elif line.op == "param":
            value = np.asarray(given[line.name], line.kind).reshape(line.size)
        elif line.op in STORED:
            value = _stored(np.asarray(operands[0]), [sizes[ranges[axis]] for axis in axes], axes)
        else:
            with np.errstate(all="ignore"):
                value = _value(line, operands, axes)
        known[line.name] = value
    return known[lines[-1].name]


def _stored(value: np.ndarray, shape: Sequence[int], axes: Sequence[int]) -> np.ndarray:
    """What a kernel leaves behind: an axis for each of its ranges, in the order given."""
    wide = [1] * value.ndim
    for axis, size in zip(axes, shape, strict=True):
        wide[axis] = size
    if np.broadcast_shapes(value.shape, wide) != tuple(wide):
        raise ValueError("a stage must name every range that its value depends on")
    rest = [axis for axis in range(value.ndim) if axis not in axes]
    return np.transpose(np.broadcast_to(value, wide), [*axes, *rest]).reshape(shape)


def _value(line: Staged, operands: Sequence[Any], axes: Sequence[int]) -> np.ndarray:
    if line.op == "index":
        memory, *at = operands
        if np.ndim(memory) != len(at):
            raise ValueError(f"{line.operands[0]} has {np.ndim(memory)} axes: {str(line)!r}")
        return memory[tuple(at)]
    first = np.asarray(operands[0])
    if line.op == "sum":
        return first.sum(axis=tuple(axes), keepdims=True, dtype=first.dtype)
    if line.op == "cast":
        return first.astype(line.kind)
    if line.op == "where":
        return np.where(*operands)
    named = {"add": np.add, "mul": np.multiply, "max": np.maximum, "lt": np.less}
    return named[line.op](*operands)


def stored_bytes(lines: Sequence[Staged]) -> int:
    """The bytes of all stages together: what one kernel writes for another."""
    kinds = kinds_of(lines)
    sizes = {line.name: line.size for line in lines}
    return sum(
        np.dtype(kinds[line.name]).itemsize * prod(sizes[str(x)] for x in line.operands[1:])
        for line in lines
        if line.op == "stage"
    )


def kinds_of(lines: Sequence[Staged]) -> dict[str, str]:
    """The type of each line; that of a range is "", because it depends on its readers."""
    kinds: dict[str, str] = {}
    for line in lines:
        read = [kinds[x] for x in line.operands if isinstance(x, str)]
        if line.op in ("param", "cast"):
            kinds[line.name] = line.kind
        elif line.op == "lt":
            kinds[line.name] = "bool"
        elif line.op in ("index", "sum", *STORED):
            kinds[line.name] = read[0] if isinstance(line.operands[0], str) else "int32"
        else:
            read = read[1:] if line.op == "where" and isinstance(line.operands[0], str) else read
            kinds[line.name] = next(filter(None, read), "")
    return kinds
