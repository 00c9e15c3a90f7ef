"""Tokens as statements: what an operation is called, its results, and all that belongs to it.

    %0:2 = linalg.generic {...} ins(...) outs(...) { ... } -> ... loc("conv1")
    ->   Statement(("%0#0", "%0#1"), "linalg.generic", tokens, line 7, ("conv1",))

An operation begins a line; what stands between two of them at the same depth belongs to the first.
How the rest of it is read is up to each op (`cursor.py`). So an op that nobody knows costs one
statement, and what follows is read all the same. Next room: `cursor.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from course_lib.mlir.into.lexer import Token

OPEN, CLOSE = "([{", ")]}"
PLAIN = ("return", "module")  # operations without the name of a dialect


@dataclass(frozen=True)
class Statement:
    """One operation; `tokens` are those behind its name, without its location."""

    results: tuple[str, ...]
    op: str
    tokens: tuple[Token, ...]
    line: int
    origin: tuple[str, ...] = ()


def statements(tokens: Sequence[Token]) -> Iterator[Statement]:
    """The operations of a block. ValueError for brackets that do not match."""
    starts, depth = [], 0
    for k, token in enumerate(tokens):
        if depth == 0 and token.first and _begins(token):
            starts.append(k)
        depth += (token.text in OPEN) - (token.text in CLOSE)
        if depth < 0:
            raise ValueError(f"line {token.line}: {token.text!r} closes nothing")
    if depth:
        raise ValueError(f"line {tokens[-1].line}: the text ends inside brackets")
    if tokens and starts[:1] != [0]:
        raise ValueError(f"line {tokens[0].line}: an operation expected, got {tokens[0].text!r}")
    for first, last in zip(starts, [*starts[1:], len(tokens)], strict=True):
        yield _statement(tokens[first:last])


def _begins(token: Token) -> bool:
    """Whether an operation (or an alias, such as #map = ...) begins with it."""
    text = token.text
    named = re.fullmatch(r"[a-z_]\w*\.[\w.]+", text)
    return text[0] in "%#" or named is not None or text in PLAIN


def _statement(tokens: Sequence[Token]) -> Statement:
    line, results = tokens[0].line, []
    k = 0
    while tokens[k].text.startswith(("%", "#")):
        results.append(tokens[k].text)
        if tokens[k + 1 : k + 2] and tokens[k + 1].text == ":":  # %0:2 = two results
            count = int(tokens[k + 2].text)
            results[-1:] = [f"{tokens[k].text}#{n}" for n in range(count)]
            k += 2
        k += 2  # the comma, or the sign of equality
        if k >= len(tokens):
            raise ValueError(f"line {line}: an operation expected behind {results[-1]}")
    rest, origin = _without_location(list(tokens[k + 1 :]))
    return Statement(tuple(results), tokens[k].text, tuple(rest), line, origin)


def _without_location(tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """`loc("a")` or `loc(fused["a", "b"])` at the end gives its names; `loc(#loc3)` none."""
    if not tokens or tokens[-1].text != ")":
        return tokens, ()
    depth = 0
    for k in range(len(tokens) - 1, 0, -1):
        depth += (tokens[k].text == ")") - (tokens[k].text == "(")
        if depth == 0:
            if tokens[k - 1].text != "loc":
                return tokens, ()
            strings = [t.text for t in tokens[k:] if t.text.startswith('"')]
            return tokens[: k - 1], tuple(json.loads(s, strict=False) for s in strings)
    return tokens, ()
