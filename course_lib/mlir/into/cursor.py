"""Reading along the tokens of one statement.

    c.operands("ins")      reads   ins(%a, %b : tensor<4xf32>, f32)
    c.integers()           reads   [1, 0]

What does not stand there as it should is an `Unreadable`. Next room: `scalars.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from course_lib.ir.types import DTYPES, DType, TensorType
from course_lib.mlir.into.lexer import Token
from course_lib.mlir.into.statements import CLOSE, OPEN

LARGEST = 1 << 28  # elements


class Unreadable(Exception):
    """Why a statement cannot be read, in words."""


class Operand(NamedTuple):
    """A value, and the type that the statement says it has."""

    name: str
    type: str


class Cursor:
    """A place in a statement."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens, self.place = tokens, 0

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self.tokens[self.place].text if self.place < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        """The next token; if some are named, it has to be one of these."""
        text = self.peek()
        if not text or (expected and text not in expected):
            wanted = " or ".join(map(repr, expected)) or "more"
            raise Unreadable(f"{wanted} expected, got {text or 'the end'!r}")
        self.place += 1
        return text

    def skip(self, text: str) -> bool:
        """Passes the token if it comes next."""
        if self.peek() != text:
            return False
        self.place += 1
        return True

    def value(self) -> str:
        """The name of a value."""
        if not self.peek().startswith("%"):
            raise Unreadable(f"a value expected, got {self.peek() or 'the end'!r}")
        return self.take()

    def values(self) -> list[str]:
        """%a, %b, ..."""
        names = [self.value()]
        while self.skip(","):
            names.append(self.value())
        return names

    def operands(self, word: str) -> list[Operand]:
        """ins(%a, %b : f32, f32); none if the word does not come next."""
        if not self.skip(word):
            return []
        self.take("(")
        names = self.values()
        self.take(":")
        types = [self.take()]
        while self.skip(","):
            types.append(self.take())
        self.take(")")
        return [Operand(*both) for both in zip(names, types, strict=True)]

    def integers(self) -> tuple[int, ...]:
        """[1, 0]; those of `array<i64: 1, 0>` and `dense<[1, 0]>`, too."""
        text = " ".join(t.text for t in self.group())
        if "%" in text or "?" in text:
            raise Unreadable(f"a size or a place is known only when the program runs: {text}")
        return tuple(int(n) for n in re.findall(r"(?<![\w.])-?\d+", text))

    def group(self) -> list[Token]:
        """A bracket and all in it."""
        if self.peek() not in OPEN or not self.peek():
            raise Unreadable(f"a bracket expected, got {self.peek() or 'the end'!r}")
        start, depth = self.place, 0
        while self.place < len(self.tokens):
            text = self.take()
            depth += (text in OPEN) - (text in CLOSE)
            if depth == 0:
                break
        return list(self.tokens[start : self.place])

    def attributes(self) -> dict[str, list[Token]]:
        """{a = 1, b = [2, 3]}, each as its tokens; none if no bracket comes next."""
        if self.peek() != "{":
            return {}
        inside = Cursor(self.group()[1:-1])
        attributes: dict[str, list[Token]] = {}
        while inside.peek():
            name = inside.take()
            inside.skip("=")
            start = inside.place
            while inside.peek() not in (",", ""):
                inside.group() if inside.peek() in OPEN else inside.take()
            attributes[name] = list(inside.tokens[start : inside.place])
            inside.skip(",")
        return attributes


def tensor_type(text: str) -> TensorType:
    """tensor<1x3xf32> or f32. Unreadable for sizes that are not numbers, and other elements."""
    inside = text.removeprefix("tensor<").removesuffix(">") if text.startswith("tensor<") else text
    *sizes, element = inside.replace(" ", "").split("x") if "index" not in inside else [inside]
    if not all(size.isdecimal() for size in sizes):
        raise Unreadable(f"{text}: only tensors whose sizes are numbers")
    type = TensorType(element_type(element), tuple(map(int, sizes)))
    if type.numel > LARGEST:
        raise Unreadable(f"{text}: only tensors of up to {LARGEST:,} elements")
    return type


def element_type(text: str) -> DType:
    """i1 is a truth value, and an index an i64. All other integers are signed."""
    name = {"i1": "bool", "index": "i64"}.get(text, text)
    if name not in DTYPES or name.startswith("u"):
        raise Unreadable(f"{text} is no element type of ours")
    return DTYPES[name]


def number(text: str, dtype: DType) -> np.generic:
    """A literal. A float in hexadecimal digits is given by its bits; an integer may be written as
    if it had no sign: 255 : i8 is -1."""
    if text in ("true", "false"):
        return np.bool_(text == "true")
    try:
        if dtype.is_float and text.startswith("0x"):
            return np.dtype(f"u{dtype.size}").type(int(text, 16)).view(dtype.numpy)
        if dtype.is_float:
            return dtype.numpy.type(float(text))
        whole, above = int(text, 0), 1 << (8 * dtype.size)
        return dtype.numpy.type(whole - above if above // 2 <= whole < above else whole)
    except (ValueError, OverflowError):
        raise Unreadable(f"{text} is no number of type {dtype}") from None


def array(text: str, type: TensorType, blobs: Mapping[str, str]) -> np.ndarray:
    """The numbers of `dense<...>` or `dense_resource<...>`."""
    word, _, inside = text.removesuffix(">").partition("<")
    if word == "dense_resource":
        if inside not in blobs:
            raise Unreadable(f"the bytes of the resource {inside!r} are missing")
        return _from_bytes(bytes.fromhex(blobs[inside])[4:], type, inside)
    if inside.startswith('"0x'):
        return _from_bytes(bytes.fromhex(inside[3:-1]), type, "these")
    numbers = [number(n, type.dtype) for n in re.findall(r"[^\s,\[\]]+", inside)]
    if len(numbers) not in (1, type.numel):
        raise Unreadable(f"{len(numbers)} numbers for {type}")
    flat = np.array(numbers, type.dtype.numpy)
    return (np.full(type.dims, flat[0]) if len(numbers) == 1 else flat.reshape(type.dims)).copy()


def _from_bytes(raw: bytes, type: TensorType, what: str) -> np.ndarray:
    little = type.dtype.numpy.newbyteorder("<")
    if len(raw) not in (type.numel * little.itemsize, little.itemsize):
        raise Unreadable(f"{what} are {len(raw)} bytes, which is not what {type} needs")
    flat = np.frombuffer(raw, little).astype(type.dtype.numpy)
    return (np.full(type.dims, flat[0]) if flat.size == 1 else flat.reshape(type.dims)).copy()
