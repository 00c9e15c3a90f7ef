"""Texts that share most of their words, packed: each word once, and runs that were there before.

    table = Table()
    table.add("for i in 0..8 {")      ->  0
    table.add("for i in 0..16 {")     ->  1
    unpack(table.packed())            ->  ["for i in 0..8 {", "for i in 0..16 {"]

The states of a program differ in little, and machine code repeats itself. A text becomes numbers of
words; where at least `SHORTEST` of them in a row have been written before, in any text, a copy
stands there instead (Lempel and Ziv, 1977). `widget.js` unpacks it in fifteen lines, `unpack` says
what is right. Next room: `page.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

WORD = re.compile(r"\n *|[A-Za-z_]+|[0-9]+|[^A-Za-z_0-9\n]+")
SHORTEST = 4  # words of a copy
LOOKS = 16  # places that are tried for the longest copy
# The digits of numbers: printable, and escaped by neither JSON nor HTML. One of the last two
# begins a copy, the other one ends a text.
DIGITS = "".join(chr(c) for c in range(33, 127) if chr(c) not in "\"\\&<'")
BASE, ENDS, COPY = len(DIGITS) - 2, DIGITS[-1], DIGITS[-2]
SMALL = BASE - 20  # numbers below it have one digit; larger ones two or more


class Table:
    """Texts, each once, by number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]

    def packed(self) -> dict[str, Any]:
        """The words, the most frequent ones first, and all texts as one string of numbers."""
        split = [WORD.findall(text) for text in self.texts]
        counts = Counter(word for words in split for word in words)
        words = sorted(counts, key=lambda word: (-counts[word], word))
        numbers = {word: number for number, word in enumerate(words)}
        return {"words": words, "texts": _written([[numbers[w] for w in ws] for ws in split])}


def _written(texts: list[list[int]]) -> str:
    """Literal numbers, copies (COPY, how far back, how long) and the ends of texts."""
    stream: list[int] = []
    places: dict[tuple[int, ...], list[int]] = {}
    out: list[str] = []
    for text in texts:
        base = len(stream)
        stream += text
        at = base
        while at < len(stream):
            found, length = _longest(stream, at, places)
            out.append(f"{COPY}{_digits(at - found)}{_digits(length)}" if length
                       else _digits(stream[at]))  # fmt: skip
            for k in range(at, at + max(length, 1)):
                places.setdefault(tuple(stream[k : k + SHORTEST]), []).append(k)
            at += max(length, 1)
        out.append(ENDS)
    return "".join(out)


def _longest(
    stream: list[int], at: int, places: dict[tuple[int, ...], list[int]]
) -> tuple[int, int]:
    """Where the longest run begins that is written already and goes on here, and its length."""
    best, length = 0, 0
    for start in places.get(tuple(stream[at : at + SHORTEST]), [])[: -LOOKS - 1 : -1]:
        k = 0
        while at + k < len(stream) and start + k < at and stream[start + k] == stream[at + k]:
            k += 1
        if k > length:
            best, length = start, k
    return (best, length) if length >= SHORTEST else (0, 0)


def _digits(number: int) -> str:
    """One digit for small numbers; larger ones begin with a digit that says how many follow."""
    if number < SMALL:
        return DIGITS[number]
    rest, digits = number - SMALL, ""
    while rest or not digits:
        rest, digit = divmod(rest, BASE)
        digits += DIGITS[digit]
    return DIGITS[SMALL + len(digits) - 1] + digits


def unpack(packed: dict[str, Any]) -> list[str]:
    """The texts of `Table.packed`, by number."""
    marks, words, at = iter(packed["texts"]), packed["words"], {c: n for n, c in enumerate(DIGITS)}

    def number(first: str) -> int:
        lead = at[first]
        if lead < SMALL:
            return lead
        return SMALL + sum(at[next(marks)] * BASE**k for k in range(lead - SMALL + 1))

    stream: list[int] = []
    texts: list[str] = []
    begin = 0
    for mark in marks:
        if mark == ENDS:
            texts.append("".join(words[n] for n in stream[begin:]))
            begin = len(stream)
        elif mark == COPY:
            start, length = len(stream) - number(next(marks)), number(next(marks))
            stream += stream[start : start + length]
        else:
            stream.append(number(mark))
    return texts
