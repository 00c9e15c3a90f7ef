"""Several forms of one program in tabs; lines that belong together have one colour and one key.

    forms([Form("graph", [("%0 = relu(%x)", "1")]), Form("assembly", [("vmaxps", "1.2")])], title)

A key is a kernel's number, "1", or a line's of its loops, "1.2", and stands before each line. One
row of buttons chooses the form, another one a key: then a form of `parts` shows what belongs to it
alone, and every other form marks it. Radio buttons and a style sheet do all of it; where styles are
missing, and on paper, the forms stand below each other. Next room: `beside.py`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course_lib.draw.base.beside import HUES
from course_lib.draw.base.picture import Picture, fragment, scrolling
from course_lib.draw.base.stepper import CSS as BAR
from course_lib.draw.base.svg import OWN_KEYS, escape, tag

MOST = 60  # keys with a button of their own; where there are more, only kernels have one

WHOSE = tag("span", "Lines of", klass="cl-whose", aria_hidden="true")  # its label says more

CSS = (
    ".cl-form .cl-scroll{max-height:36rem;border:1px solid var(--cl-faint)}"
    ".cl-form pre span{display:block;min-width:max-content;padding:0 .5em 0 0}"
    ".cl-form b{display:inline-block;width:5ch;margin-right:1ch;text-align:right;font-weight:400;"
    "color:var(--cl-muted)}"
    ".cl-form [class*=cl-hue] b{color:inherit}"
    ".cl-keys{max-height:6.5rem;overflow:auto}"
    ".cl-bar .cl-whose{border:0;padding:0;margin-right:.6rem;align-self:center;"
    "color:var(--cl-muted)}"
    + "".join(f".cl-form .cl-hue{k}{{background:var(--cl-{h})}}" for k, h in enumerate(HUES))
)


@dataclass(frozen=True)
class Form:
    """A text: its lines, each with its key, "" for one that belongs to nothing."""

    name: str
    lines: Sequence[tuple[str, str]]
    about: str = ""  # a sentence above it
    parts: bool = False  # show a chosen key's lines alone


def forms(of: Sequence[Form], title: str, summary: str = "") -> Picture:
    """The forms in tabs, the first one chosen. ValueError if there is none."""
    if not of:
        raise ValueError(f"{title}: there is no form to show")
    keys = _keys(of)
    hue = {}
    for of_lines in (False, True):
        some = [key for key in keys if ("." in key) == of_lines]
        hue |= {key: k % len(HUES) for k, key in enumerate(some)}
    panels = [tag("section", _panel(form, hue), klass="cl-form") for form in of]
    group = "cl-" + hashlib.sha256(repr((title, panels)).encode()).hexdigest()[:10]
    tabs = [_button(f"{group}-f", k, form.name, f"cl-tab{k}") for k, form in enumerate(of)]
    names = ["all", *keys]
    chosen = [_button(f"{group}-k", k, name, f"cl-key{k}") for k, name in enumerate(names)]
    form = tag(
        "form",
        tag("div", escape(title), klass="cl-title"),
        tag("div", escape(summary), klass="cl-muted") if summary else "",
        _bar(tabs, f"{title}: forms, arrow keys move"),
        _bar(
            chosen,
            f"{title}: kernels and lines of loops, arrow keys move",
            "cl-many cl-keys",
            WHOSE,
        )
        if keys
        else "",
        tag("div", *panels, klass="cl-forms"),
        method="dialog",  # Enter sends nothing
    )
    words = "\n\n".join("\n".join([form.name, *map(_plain, form.lines)]) for form in of)
    sheet = BAR + CSS + _rules(len(of), keys)
    return Picture(title, fragment(form, css=sheet), f"{title}\n{summary}\n\n{words}")


def _keys(of: Iterable[Form]) -> list[str]:
    """The keys that lines of two forms have, or of a kernel whose lines have."""
    seen = Counter(key for form in of for key in {key for _, key in form.lines})
    shared = {key for key, count in seen.items() if key and count > 1}
    every = {*shared, *(key.partition(".")[0] for key in shared)}
    if len(every) > MOST:
        every = {key for key in every if "." not in key}
    return sorted(every, key=lambda key: [int(part) for part in key.split(".")])


def _panel(form: Form, hue: dict[str, int]) -> str:
    lines, finer = [], any("." in key for _, key in form.lines)  # then a kernel's number alone
    for text, key in form.lines:  # says that nobody knows the line
        kernel, _, line = key.partition(".")
        klass = [f"cl-of{kernel}"] * (kernel in hue)
        klass += [f"cl-hue{hue.get(key)}"] * (key in hue and bool(line) == finer)
        klass += [f"cl-of{kernel}-{line}"] * bool(line) + ["cl-whole"] * (not finer)
        number = tag("b", escape(key) or " ")
        lines.append(tag("span", number, escape(text) or " ", klass=" ".join(klass)))
    about = tag("div", escape(form.about), klass="cl-muted") if form.about else ""
    of_something = any(key for _, key in form.lines)  # else it would be empty for every key
    kind = "cl-parts" if form.parts and of_something else "cl-marks"
    text = tag("div", scrolling(form.name, tag("pre", *lines)), klass=kind)
    return tag("div", escape(form.name), klass="cl-name") + about + text


def _bar(buttons: Sequence[str], label: str, klass: str = "", said: str = "") -> str:
    classes = f"cl-bar {klass}".strip()
    return tag("div", said, *buttons, klass=classes, role="radiogroup", aria_label=label)


def _button(group: str, number: int, words: str, klass: str) -> str:
    checked = None if number else "checked"
    radio = tag("input", type="radio", name=group, value=number, checked=checked, klass=klass,
                **OWN_KEYS)  # fmt: skip
    return tag("label", radio, tag("span", escape(words)))


def _rules(count: int, keys: Sequence[str]) -> str:
    """Show the chosen form; of the chosen key its lines alone, or marked."""
    shown = ",".join(
        f"form:has(.cl-tab{k}:checked) .cl-forms>.cl-form:nth-child({k + 1})" for k in range(count)
    )
    hidden = ".cl-form,.cl-form>.cl-name{display:none}"  # its button says the name
    tabs = f"@supports selector(:has(*)){{{hidden}{shown}{{display:block}}}}"
    return "@media screen{" + tabs + "".join(map(_rule, range(1, len(keys) + 1), keys)) + "}"


def _rule(number: int, key: str) -> str:
    at, kernel = f"form:has(.cl-key{number}:checked)", f".cl-of{key.partition('.')[0]}"
    mine = f"{kernel}:is(.cl-whole,.cl-of{key.replace('.', '-')})" if "." in key else kernel
    mark = "font-weight:600;box-shadow:inset 4px 0 var(--cl-focus)"
    return (
        f"{at} .cl-parts span:not({mine}){{display:none}}"
        f"{at} .cl-marks span:not({mine}){{background:none}}"
        f"{at} .cl-marks {mine}{{{mark}}}"
    )


def _plain(line: tuple[str, str]) -> str:
    text, key = line
    return f"{key:>6}  {text}".rstrip()
