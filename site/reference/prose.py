"""Docstrings as Markdown: what they show stays as it is typed, what they say becomes prose.

kind     a key of `ATTR_KINDS`        ->   - `kind`: a key of `ATTR_KINDS`
    %0 = relu(%x)                     ->   a block of code
>>> dce(graph)                        ->   a block of code, with prompts
"""

from __future__ import annotations

import inspect
import re

CODE = re.compile(r"(`+[^`]+`+|(?<![\w*])\*\w[^*\n]*\w\*(?![\w*]))")  # and *emphasis*
SPECIAL = re.compile(r"([\\*_<>\[\]$%{}|#~^&@!])")
FIELD = re.compile(r"^([A-Za-z_][\w, *.]*?) {2,}(\S.*)$")
FENCE = "`````"


def markdown(text: str | None) -> str:
    """The docstring as Markdown in which nothing has a meaning that it did not have before."""
    blocks = re.split(r"\n[ \t]*\n", inspect.cleandoc(text or ""))
    made: list[str] = []
    shown: list[str] = []
    for block in [*blocks, ""]:
        code = block.strip() and block.startswith((" ", ">>>"))
        if shown and not (code and _prompts(block) == _prompts(shown[0])):
            made.append(fenced(inspect.cleandoc("\n" + "\n\n".join(shown))))
            shown = []
        if code:
            shown.append(block.rstrip())
        else:
            made += _said(block)
    return "\n\n".join(filter(None, made)) + "\n"


def fenced(text: str, language: str = "") -> str:
    """A block of code."""
    kind = language or ("pycon" if text.lstrip().startswith(">>>") else "text")
    return f"{FENCE}{kind}\n{text.rstrip()}\n{FENCE}"


def _prompts(block: str) -> bool:
    return block.lstrip().startswith(">>>")


def _said(block: str) -> list[str]:
    """A block of prose; a table of names, and what is indented behind a line, stand apart."""
    lines = block.split("\n")
    if FIELD.match(lines[0]) and all(FIELD.match(k) or k.startswith("  ") for k in lines):
        return ["\n".join(_field(line) for line in lines)]
    for k, line in enumerate(lines):
        starts_code = line.startswith((">>>", "    ")) and not _in_list(lines[:k])
        if k and starts_code:
            code = inspect.cleandoc("\n" + "\n".join(lines[k:]))
            return [*_said("\n".join(lines[:k])), fenced(code)]
    return ["\n".join(map(escaped, lines))]


def _in_list(lines: list[str]) -> bool:
    return any(re.match(r"(-|\d+\.) ", line) for line in lines)


def _field(line: str) -> str:
    if match := FIELD.match(line):
        return f"- `{match[1]}`: {escaped(match[2])}"
    return "  " + escaped(line.strip())


def escaped(line: str) -> str:
    """A line of prose; code and emphasis stay."""
    parts = CODE.split(line)
    parts[::2] = [SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    text = "".join(parts)
    return re.sub(r"^(\s*)([+=:]|-(?! ))", r"\1\\\2", text)


def first_sentence(text: str | None) -> str:
    """What stands before the first full stop or colon of a docstring's first paragraph."""
    return re.split(r"(?<=[a-z`)])[.:](?= |$)", first_paragraph(text))[0]


def first_paragraph(text: str | None) -> str:
    """Of a docstring, on one line."""
    return escaped(" ".join(inspect.cleandoc(text or "").split("\n\n")[0].split()))
