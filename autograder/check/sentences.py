"""The sentences of a specification: which of them no check is about, and what a verdict quotes.

    sentences("Inputs stay. The result\\nholds:\\n\\n- every live node;\\n- nothing else.")
        ->  ["Inputs stay.", "every live node;", "nothing else."]

A sentence counts as checked if a check quotes it, or a part of it (`spec=`), and as background if
`background(...)` says that there is nothing to check. Left out are examples: what follows `>>>`,
and what stands indented on its own, such as programs and tables of rules. An item of a list is a
sentence; the words that lead to the list (`The result holds:`) belong to its items. A row that
explains a name (`tasks    the steps in order`) is one, too.

Next room: judging.py, which quotes; autograder/soundness/exercise.py, which asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# A full stop that ends nothing: "e.g. this", "0, 1, 2 ... are the time", "A. Smith".
_GOES_ON = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|etc|resp|Fig)|\.\.|(?:^|[ (])[A-Z])\.$")
_ENDS = re.compile(r"[.!?][\"'”)*]*(?=\s)")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) +")
_ROW = re.compile(r"[\w`*.-]+(?:, [\w`*.-]+)*:?  +\S")


def sentences(text: str) -> list[str]:
    """Every sentence of a docstring in order, each on one line, as `spec=` would quote it."""
    result: list[str] = []
    blocks = _blocks(text)
    for (kind, words), following in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        parts = _split(words)
        leads = (
            kind == "text" and following[0] == "item" and not parts[-1].endswith((".", "!", "?"))
        )
        result += parts[:-1] if leads else parts
    return result


def uncovered(text: str, quotes: Iterable[str]) -> list[str]:
    """The sentences that none of the quotes touches. In a quote, ` ... ` stands for what is left
    out between its two ends."""
    whole = " ".join(text.split())
    spans = [span for quote in quotes if (span := span_of(quote, whole)) is not None]
    left, at = [], 0
    for sentence in sentences(text):
        start = whole.find(sentence, at)
        at = start + len(sentence)
        if not any(first < at and start < last for first, last in spans):
            left.append(sentence)
    return left


def span_of(quote: str, text: str) -> tuple[int, int] | None:
    """Where the text says so: its first and last character; None if it does not."""
    whole, words = " ".join(text.split()), " ".join(quote.split())
    if not words:
        return None
    first, _, last = (words, "", "") if words in whole else words.partition(" ... ")
    start = whole.find(first)
    end = whole.find(last, start + len(first))
    return None if start < 0 or end < 0 else (start, end + len(last))


def to_the_end(quote: str, text: str) -> str:
    """The quotation, continued to where its last sentence ends; as it is if the text has it not.

    >>> to_the_end("Inputs stay", "Dead nodes go. Inputs stay: they\nare the signature. Done.")
    'Inputs stay: they are the signature.'
    """
    span = span_of(quote, text)
    if span is None:
        return quote
    whole, at = " ".join(text.split()), 0
    for sentence in sentences(text):
        start = whole.find(sentence, at)
        at = start + len(sentence)
        if start < span[1] <= at:
            return (" ".join(quote.split()) + whole[span[1] : at]).rstrip(";,")
    return quote


def _blocks(text: str) -> list[tuple[str, str]]:
    """("text", words), ("item", words) or ("row", words), without examples."""
    blocks: list[tuple[str, list[str]]] = []
    kind = ""  # of the block that is open; "example" is dropped
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            kind = ""
        elif line.lstrip().startswith(">>>"):
            kind = "example"
        elif kind == "example":
            continue
        elif _ITEM.match(line) and indent < 4:
            kind = "item"
            blocks.append((kind, [_ITEM.sub("", line, count=1)]))
        elif indent == 0 and _ROW.match(line):
            kind = "row"
            blocks.append((kind, [line]))
        elif indent >= 4 and kind not in ("item", "row"):
            kind = "example"
        elif not kind or (kind != "text" and indent == 0):
            kind = "text"
            blocks.append((kind, [line]))
        else:
            blocks[-1][1].append(line)
    return [(kind, " ".join(" ".join(lines).split())) for kind, lines in blocks]


def _split(words: str) -> list[str]:
    """Sentences of a paragraph. A full stop between backquotes ends nothing."""
    hidden = re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), words)
    parts, start = [], 0
    for end in _ENDS.finditer(hidden):
        if not _GOES_ON.search(hidden[start : end.start() + 1]):
            parts.append(words[start : end.end()].strip())
            start = end.end()
    return [*parts, words[start:].strip()] if words[start:].strip() else parts
