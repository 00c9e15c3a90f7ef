"""Two texts, line by line: what was got against what was expected.

    ir_diff(got, expected)

      %0 = relu(%x) : f32[4]
    - %1 = add(%0, %0) : f32[4]        expected, but missing
    + %1 = add(%0, %x) : f32[4]        got, but not expected

The sign says it as well as the colour. Next room: `draw/plots/table.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.base.svg import OWN_KEYS, escape, tag

CSS = (
    ".cl-diff{overflow:auto;max-height:44rem}.cl-diff ins,.cl-diff del,.cl-diff span{display:block;"
    "padding:0 .5em;text-decoration:none;min-width:max-content}"
    ".cl-diff ins{background:var(--cl-added);box-shadow:inset 3px 0 var(--cl-added-text)}"
    ".cl-diff del{background:var(--cl-removed);box-shadow:inset 3px 0 var(--cl-removed-text)}"
    ".cl-diff b{display:inline-block;width:1.4em;font-weight:700}"
    ".cl-pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1em}"
)

Row = tuple[str, str, str]  # sign, old line, new line
Keys = tuple[Sequence[Hashable], Sequence[Hashable]]  # of the lines of the old text, of the new


def ir_diff(
    got: str,
    expected: str,
    title: str = "got against expected",
    columns: int = 1,
    context: int | None = 3,
) -> Picture:
    """How `got` differs from `expected`.

    columns  1: one text with signs; 2: expected on the left, got on the right
    context  how many equal lines to keep around each difference; None keeps all
    """
    if columns not in (1, 2):
        raise ValueError(f"a diff has 1 or 2 columns, got {columns}")
    head = tag("div", escape(title), klass="cl-title")
    if columns == 1:
        key = tag("div", "− expected, but missing · + got, but not expected", klass="cl-muted")
        body = diff_lines(expected, got, context)
    else:
        key, body = "", _two_columns(expected, got, context)
    words = f"{title}\n− expected, but missing; + got, but not expected\n"
    words += diff_text(expected, got, context)
    return Picture(title, fragment(head, key, body, css=CSS), words)


def diff_lines(
    old: str,
    new: str,
    context: int | None = None,
    keys: Keys | None = None,
    longest: int | None = None,
) -> str:
    """HTML in which removed and added lines carry a sign and a colour.

    keys     what the lines of each text say: where that is equal, the line did not change, and a
             line that only moved stands at its new place without a sign
    longest  lines that are shown; the rest is only counted
    """
    rows = _shown(_rows(old, new, context, keys), longest)
    lines = [_line(sign, a if sign == "−" else b) for sign, a, b in rows]
    return tag("div", tag("pre", *lines), klass="cl-diff", tabindex=0, **OWN_KEYS)


def diff_text(
    old: str,
    new: str,
    context: int | None = None,
    keys: Keys | None = None,
    longest: int | None = None,
) -> str:
    """The same for a terminal."""
    rows = _shown(_rows(old, new, context, keys), longest)
    return "\n".join(f"{sign} {a if sign == '−' else b}".rstrip() for sign, a, b in rows)


def renumbered(old: str, new: str) -> Keys:
    """Keys for which a line is the same whatever numbers its values have: `%3`, `%12`."""

    def blank(text: str) -> list[Hashable]:
        return [re.sub(r"%\d+", "%", line) for line in text.splitlines()]

    return blank(old), blank(new)


def _shown(rows: Iterator[Row], longest: int | None) -> list[Row]:
    every = list(rows)
    if longest is None or len(every) <= longest:
        return every
    words = f"... and {len(every) - longest:,} more lines"
    return [*every[:longest], (" ", words, words)]


def _line(sign: str, text: str) -> str:
    name = {"−": "del", "+": "ins"}.get(sign, "span")
    return tag(name, tag("b", sign), escape(text))


def _two_columns(old: str, new: str, context: int | None) -> str:
    left, right = [], []
    for sign, a, b in [*_rows(old, new, context), (" ", "", "")]:
        if sign == " ":  # a difference is over: the sides go on at the same height
            gap = len(left) - len(right)
            (right if gap > 0 else left).extend([_line(" ", " ")] * abs(gap))
        left += [_line(sign, a)] if sign != "+" else []
        right += [_line(sign, b)] if sign != "−" else []
    sides = [
        tag("div", tag("div", name, klass="cl-muted"), tag("pre", *lines), klass="cl-diff")
        for name, lines in (("expected", left), ("got", right))
    ]
    return tag("div", *sides, klass="cl-pair")


def _rows(old: str, new: str, context: int | None, keys: Keys | None = None) -> Iterator[Row]:
    a, b = old.splitlines(), new.splitlines()
    p, q = keys or (a, b)
    matcher = SequenceMatcher(None, p, q, autojunk=False)
    blocks = matcher.get_opcodes()
    moved = Counter[Hashable]()
    if keys:
        changed = [block for block in blocks if block[0] != "equal"]
        moved = Counter(p[k] for _, low, high, _, _ in changed for k in range(low, high))
        moved &= Counter(q[k] for _, _, _, low, high in changed for k in range(low, high))
    left, come = moved.copy(), moved.copy()
    for k, (kind, a0, a1, b0, b1) in enumerate(blocks):
        if kind == "equal":
            pairs = list(zip(a[a0:a1], b[b0:b1], strict=True))
            yield from _equal(pairs, context, k == 0, k == len(blocks) - 1)
            continue
        yield from (("−", a[i], "") for i in range(a0, a1) if not _take(left, p[i]))
        yield from ((" " if _take(come, q[i]) else "+", "", b[i]) for i in range(b0, b1))


def _take(moved: Counter[Hashable], key: Hashable) -> bool:
    """Whether this line is one of those that only moved; each is one once."""
    moved[key] -= 1
    return moved[key] >= 0


def _equal(
    lines: list[tuple[str, str]], context: int | None, first: bool, last: bool
) -> Iterator[Row]:
    """Equal lines, without the middle of a long run."""
    head = 0 if first else context or 0
    tail = 0 if last else context or 0
    left_out = len(lines) - head - tail
    if context is None or left_out < 3:
        yield from ((" ", *line) for line in lines)
        return
    yield from ((" ", *line) for line in lines[:head])
    words = f"… {left_out} equal lines"
    yield (" ", words, words)
    yield from ((" ", *line) for line in lines[len(lines) - tail :])
