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
)
ELEMENTS = {"−": "del", "+": "ins", " ": "span"}

Row = tuple[str, str]  # sign, line
Keys = tuple[Sequence[Hashable], Sequence[Hashable]]  # of the lines of the old text, of the new


def ir_diff(got: str, expected: str, title: str = "got against expected") -> Picture:
    """How `got` differs from `expected`."""
    key = "− expected, but missing · + got, but not expected"
    body, text = diff(expected, got)
    head = tag("div", escape(title), klass="cl-title"), tag("div", key, klass="cl-muted")
    return Picture(title, fragment(*head, body, css=CSS), f"{title}\n{key}\n{text}")


def diff(
    old: str,
    new: str,
    keys: Keys | None = None,
    longest: int | None = None,
    removed: bool = True,
) -> tuple[str, str]:
    """HTML in which removed and added lines carry a sign and a colour; and as plain text.

    keys     what the lines of each text say: where that is equal, the line did not change, and a
             line that only moved stands at its new place without a sign
    longest  lines that are shown; the rest is only counted
    removed  whether the lines are shown that only the old text has
    """
    rows = [row for row in _rows(old, new, keys) if removed or row[0] != "−"]
    more = len(rows) - longest if longest is not None else 0
    if more > 0:
        rows = [*rows[:longest], (" ", f"... and {more:,} more lines")]
    lines = [tag(ELEMENTS[sign], tag("b", sign), escape(line)) for sign, line in rows]
    html = tag("div", tag("pre", *lines), klass="cl-diff", tabindex=0, **OWN_KEYS)
    return html, "\n".join(f"{sign} {line}".rstrip() for sign, line in rows)


def renumbered(old: str, new: str) -> Keys:
    """Keys for which a line is the same whatever numbers its values have: `%3`, `%12`."""

    def blank(text: str) -> list[Hashable]:
        return [re.sub(r"%\d+", "%", line) for line in text.splitlines()]

    return blank(old), blank(new)


def _rows(old: str, new: str, keys: Keys | None) -> Iterator[Row]:
    a, b = old.splitlines(), new.splitlines()
    p, q = keys or (a, b)
    blocks = SequenceMatcher(None, p, q, autojunk=False).get_opcodes()
    moved = Counter[Hashable]()
    if keys:
        changed = [block for block in blocks if block[0] != "equal"]
        moved = Counter(p[k] for _, low, high, _, _ in changed for k in range(low, high))
        moved &= Counter(q[k] for _, _, _, low, high in changed for k in range(low, high))
    left, come = moved.copy(), moved.copy()
    for kind, a0, a1, b0, b1 in blocks:
        if kind == "equal":
            yield from ((" ", line) for line in b[b0:b1])
            continue
        yield from (("−", a[i]) for i in range(a0, a1) if not _take(left, p[i]))
        yield from ((" " if _take(come, q[i]) else "+", b[i]) for i in range(b0, b1))


def _take(moved: Counter[Hashable], key: Hashable) -> bool:
    """Whether this line is one of those that only moved; each is one once."""
    moved[key] -= 1
    return moved[key] >= 0
