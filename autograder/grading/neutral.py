"""A student's Markdown, made harmless for the page in which a teacher reads it.

    neutral("Look: <img src=x onerror=steal()> $a<b$")   ->   "Look: < img src=x ..."

Formgrader and nbgrader's feedback turn Markdown into HTML on the teacher's origin and let tags, any
link and any picture through. Here nothing is parsed and judged: what could begin a tag, a link
to anything but the web, a picture that is fetched, a diagram or a command of MathJax that makes
links is taken apart by one space, wherever it stands. Formulas, code and pasted pictures stay
readable.

Next room: nbgrader.py, which puts submissions into nbgrader's course.
"""

from __future__ import annotations

import re

# A `<` that begins a tag is followed at once by a letter or one of these.
TAG = re.compile(r"<(?=[A-Za-z/!?]|\Z)")
# Pictures that are inside the text; nothing is fetched for them, and no script can be in them.
PICTURE = re.compile(
    r"!\[([^\[\]<>\n]*)\]\((data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)\)"
)
LINK = re.compile(r"\](?=(?:\(|:)\s*<?\s*(\S*))")  # ](target) and ]: target
SAFE_TARGET = re.compile(r"(?:https?://|mailto:|#)[^\\]*\Z", re.IGNORECASE)
FENCE = re.compile(r"([`~]{3,})([^\n`]*)")
LANGUAGE = re.compile(r"[ \t]*(?!mermaid)[\w+#.-]{0,20}[ \t]*", re.IGNORECASE)
# Commands of MathJax that make links, set styles or identifiers, or load more of it.
COMMANDS = "href|url|style|class|cssId|html[A-Za-z]*|data|require|mmlToken|unicode|include[a-z]*"
COMMANDS += "|texttip|mathtip|toggle|action|csname|catcode"
MATHS = re.compile(rf"\\(?=(?:{COMMANDS})(?![A-Za-z]))")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")


def neutral(source: str) -> str:
    """The same text, in which nothing runs, fetches or submits when it is shown as HTML."""
    source = CONTROL.sub(" ", source)
    parts: list[str] = []
    end = 0
    for kept in PICTURE.finditer(source):
        parts += [_apart(source[end : kept.start()]), f"![{_apart(kept[1])}]({kept[2]})"]
        end = kept.end()
    return "".join([*parts, _apart(source[end:])])


def _apart(text: str) -> str:
    text = TAG.sub("< ", text)
    text = text.replace("![", "! [")
    text = LINK.sub(_link, text)
    text = FENCE.sub(_fence, text)
    return MATHS.sub(r"\\ ", text)


def _link(match: re.Match[str]) -> str:
    target = match[1]
    return "]" if not target or SAFE_TARGET.match(target) else "] "


def _fence(match: re.Match[str]) -> str:
    marks, language = match.groups()
    return match[0] if LANGUAGE.fullmatch(language) else f"{marks} "
