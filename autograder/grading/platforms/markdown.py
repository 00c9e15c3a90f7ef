"""A verdict as Markdown, for platforms that show it: words flow, programs stand in fences.

    as_markdown(verdict)      "Checked: the same outputs ...", then fenced: the program, got

Whatever a student's code printed or raised stands between fences that are longer than any row of
backticks in it, and whatever else might mean something in Markdown or HTML is escaped, so that it
is shown and does nothing.

Next room: results.py, what of it students may see and when.
"""

from __future__ import annotations

import re

from autograder.check.cards import CODE
from autograder.check.verdict import PASSED, Verdict, sections

SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~<>&-])")
SENTENCES = ("", "Stuck?", "The specification says")  # headings above words, not above programs


def as_markdown(verdict: Verdict) -> str:
    """All that the verdict says below its headline."""
    if verdict.kind == PASSED:
        return inline(f"Tried: {'; '.join(verdict.tried)}" if verdict.tried else "")
    return "\n\n".join(_section(heading, text) for heading, text in sections(verdict))


def inline(text: str) -> str:
    """Words, those in backticks as code; each line break stays one."""
    parts, end = [], 0
    for match in CODE.finditer(text):
        parts += [escaped(text[end : match.start()]), _code(match[1] or match[2])]
        end = match.end()
    return "".join([*parts, escaped(text[end:])]).replace("\n", "  \n")


def escaped(text: str) -> str:
    """Words that mean nothing else than what they say."""
    return SPECIAL.sub(r"\\\1", text)


def fenced(text: str) -> str:
    """A block of code, whatever stands in it."""
    fence = "`" * max(3, 1 + max((len(row) for row in re.findall("`+", text)), default=0))
    body = text.rstrip("\n")
    return f"{fence}text\n{body}\n{fence}"


def _section(heading: str, text: str) -> str:
    title = f"**{escaped(heading)}**\n\n" if heading and heading != "Stuck?" else ""
    if heading == "Stuck?":
        call, _, rest = text.partition(") ")
        return f"Stuck? {_code(f'{call})')} {inline(rest)}"
    return title + (inline(text) if heading in SENTENCES else fenced(text))


def _code(text: str) -> str:
    fence = "`" * (1 + max((len(row) for row in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}"
