"""The start page's map of the course, with what the learner has done of it.

    dashboard()       below a cell: parts, units, points, minutes; a unit opens to its exercises
    print(...)        the same in a terminal: `python -m autograder status`

It needs no script: a unit is opened with a click, or with Tab and Enter. Words say what colours
say. Run the cell again, and it is as the files are then. Next room: __main__.py, the command.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograder.check.cards import STYLE, Card, Note, inline
from autograder.check.keys import is_lab
from autograder.check.verdict import LATER, PASSED
from autograder.progress.clock import wanted
from autograder.progress.costs import kept_costs
from autograder.progress.record import TRIED
from autograder.progress.state import (
    DONE,
    OPEN,
    WORDS,
    WRITTEN,
    Done,
    Guess,
    PartOfCourse,
    Progress,
    progress,
    total,
)

SIGNS = {PASSED: "●", TRIED: "◐", OPEN: "○", LATER: "◆", WRITTEN: "◆"}
NO_COURSE = (
    "There is no course in this folder. Run this where start.ipynb lies; if it does lie here, "
    "bring the course up to date: an older one has no map."
)
MEASURE = "Minutes are estimates. `measure_minutes()` measures yours, on this machine only."
MEASURED = "Minutes are measured here and sent nowhere; `measure_minutes(False)` ends it."
PAGE = """
.course-map{font-family:system-ui,sans-serif;max-width:60em;line-height:1.45;
 container-type:inline-size}
.course-map h3{margin:1.2em 0 .3em;font-size:1.15em;font-weight:600}
.course-map p{margin:.3em 0}
.course-map details{border-top:1px solid #7f7f7f66;padding:.3em 0}
.course-map summary{cursor:pointer;display:flex;flex-wrap:wrap;gap:.1em 1em;align-items:baseline}
.course-map summary:focus-visible{outline:2px solid #0072b2;outline-offset:2px}
.course-map summary::before{content:"▸";width:.8em;opacity:.6}
.course-map details[open]>summary::before{content:"▾"}
.course-map .name{flex:1 1 15em;box-sizing:border-box;padding-left:1.4em;text-indent:-1.4em}
.course-map .sign{display:inline-block;width:1.4em;text-indent:0}
.course-map .unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);
 white-space:nowrap}
.course-map .passed{color:#009e73}.course-map .tried{color:#c77800}
.course-map .figure{flex:0 0 auto;min-width:10.5em;text-align:right;white-space:nowrap;
 font-variant-numeric:tabular-nums}
.course-map .figure+.figure{min-width:10em}
.course-map .bar{flex:0 0 7em;display:flex;gap:2px;align-self:center}
.course-map .bar i{flex:1 1 0;height:.6em;border:1px solid #7f7f7f;border-radius:2px}
.course-map .bar .full{background:#009e73;border-color:#009e73}
.course-map .bar .half{background:linear-gradient(90deg,#c77800 50%,transparent 50%);
 border-color:#c77800}
.course-map .inside{margin:.3em 0 .8em 1.8em}
.course-map .inside table{border-collapse:collapse;font-size:inherit;margin:.4em 0}
.course-map .inside td,.course-map .inside th{padding:.15em 1.4em .15em 0;text-align:left!important;
 background:none;vertical-align:top}
.course-map .inside table tr:nth-child(n){background:none}
.course-map .inside .number{text-align:right!important;padding-right:0;white-space:nowrap}
@container (max-width:41em){.course-map .name{flex-basis:calc(100% - 3em)}
 .course-map .bar{margin-left:3.2em}
 .course-map .figure,.course-map .figure+.figure{min-width:0}
 .course-map .inside{margin-left:0}
 .course-map .inside td,.course-map .inside th{padding-left:0;padding-right:.9em}}
@container (max-width:27em){.course-map .inside td:first-child{overflow-wrap:anywhere}}
.course-map code{background:none;color:inherit}
"""


@dataclass(frozen=True)
class Dashboard:
    """The map of the course as it stood when it was asked for; shows itself."""

    parts: tuple[PartOfCourse, ...]
    measuring: bool
    costs: Card | None = None

    def __repr__(self) -> str:
        lines = [_headline(self.parts)]
        lines += [
            f"Go on with {_name(unit)}{task and f': {task}'}" for unit, task in _next(self.parts)
        ]
        lines += [""]
        for part in self.parts:
            lines += [part.name] if part.name else []
            lines += [*map(_line, part.units), ""]
        guesses = [guess for unit in _units(self.parts) for guess in unit.guesses]
        lines += [*map(_told, guesses), ""] if guesses else []
        lines += [repr(self.costs), ""] if self.costs else []
        return "\n".join([*lines, (MEASURED if self.measuring else MEASURE).replace("`", "")])

    def _repr_html_(self) -> str:
        body = [f"<p><strong>{html.escape(_headline(self.parts))}</strong></p>"]
        body += [f"<p>{_link(unit, task)}</p>" for unit, task in _next(self.parts)]
        body.append(f"<p>{_legend()}</p>")
        for part in self.parts:
            body += [f"<h3>{html.escape(part.name)}</h3>"] if part.name else []
            body += map(_opened, part.units)
        body.append(f"<p>{inline(MEASURED if self.measuring else MEASURE)}</p>")
        body += [self.costs._repr_html_()] if self.costs else []
        label = 'aria-label="Your way through the course"'
        page = f'<section class="course-map" {label}>{"".join(body)}</section>'
        return f"<style>{STYLE}{PAGE}</style>{page}"


def dashboard() -> Dashboard | Note:
    """Where you are in the course: what passed, what was tried, what is open; points, minutes,
    predictions, and what your compiler cost last. Read anew from the files beside the notebooks
    each time; nothing is sent anywhere."""
    parts = progress()
    return Dashboard(tuple(parts), wanted(), kept_costs()) if parts else Note(NO_COURSE)


def _units(parts: tuple[PartOfCourse, ...]) -> list[Progress]:
    return [unit for part in parts for unit in part.units]


def _next(parts: tuple[PartOfCourse, ...]) -> list[tuple[Progress, str]]:
    """The first unit that was begun and not finished, else the first that was not begun, and what
    of its core comes next; nothing where all units have passed."""
    left = [unit for unit in _units(parts) if unit.state != PASSED and not is_lab(unit.unit.key)]
    begun = [unit for unit in left if unit.state == TRIED]
    return [
        (unit, next((one.task.name for one in unit.core if one.state not in DONE), ""))
        for unit in (begun or left)[:1]
    ]


def _link(unit: Progress, task: str) -> str:
    link = f'<a href="{html.escape(unit.unit.notebook)}">{html.escape(_name(unit))}</a>'
    return f"Go on with {link}" + (f": <code>{html.escape(task)}</code>" if task else "")


def _headline(parts: tuple[PartOfCourse, ...]) -> str:
    units = _units(parts)
    earned, possible, bonus = total(units)
    more = f" and {bonus:g} of the bonus" if bonus else ""
    states = [unit.state for unit in units]
    passed, tried = states.count(PASSED), states.count(TRIED)
    return (
        f"{earned:g} of {possible:g} points{more}; "
        f"{passed} of {len(units)} units and labs passed, {tried} tried"
    )


def _legend() -> str:
    signs = ((PASSED, "nothing of the core is left"), (TRIED, "tried"), (OPEN, "open"))
    return " &nbsp; ".join(f"{_sign(state)}{words}" for state, words in signs)


def _sign(state: str) -> str:
    return f'<span class="sign {state}" aria-hidden="true">{SIGNS[state]}</span>'


def _figures(unit: Progress) -> tuple[str, str]:
    """ "3 of 12 points", "42 of about 120 min"."""
    earned, possible, bonus = total([unit])
    points = f"{earned:g} of {possible:g} points" + (f" + {bonus:g}" if bonus else "")
    estimate = f"about {unit.unit.minutes:g} min"
    spent = unit.measured
    return points, estimate if spent is None else f"{spent:.0f} of {estimate}"


def _name(unit: Progress) -> str:
    return f"{unit.unit.key[:3]} · {unit.unit.name}"


def _line(unit: Progress) -> str:
    """A unit in the terminal."""
    signs = "".join(SIGNS[one.state] for one in unit.done)
    points, spent = _figures(unit)
    return f"  {SIGNS[unit.state]} {_name(unit):<42.42} {signs:<16} {points:>20}  {spent}".rstrip()


def _opened(unit: Progress) -> str:
    """A unit on the page: a line, and below it, once it is opened, its exercises and guesses."""
    points, spent = _figures(unit)
    state = "passed" if unit.state == PASSED else unit.state
    shown = "unseen" if unit.state == OPEN else "words"
    name = f'{_sign(unit.state)}{html.escape(_name(unit))} <span class="{shown}">({state})</span>'
    summary = (
        f'<summary><span class="name">{name}</span>{_bar(unit)}'
        f'<span class="figure">{points}</span><span class="figure">{spent}</span></summary>'
    )
    link = f'<a href="{html.escape(unit.unit.notebook)}">Open the notebook</a>'
    texts = [f"{html.escape(unit.unit.question)} {link}", html.escape(unit.unit.changed)]
    if unit.unit.needs:
        texts.append(f"It builds on {', '.join(unit.unit.needs)}.")
    inside = [f"<p>{text}</p>" for text in texts if text]
    inside.append(_table(("Exercise", "State", "Points"), map(_exercise, unit.done)))
    if unit.guesses:
        head = ("Prediction", "You said", "It is")
        inside.append(_table(head, map(_guess, unit.guesses)))
    return f'<details>{summary}<div class="inside">{"".join(inside)}</div></details>'


def _bar(unit: Progress) -> str:
    """A cell for each exercise, which the words beside it and the table repeat."""
    kinds = {PASSED: "full", LATER: "full", WRITTEN: "full", TRIED: "half"}
    cells = "".join(f'<i class="{kinds.get(one.state, "")}"></i>' for one in unit.done)
    return f'<span class="bar" aria-hidden="true">{cells}</span>'


def _exercise(one: Done) -> tuple[str, str, str]:
    words = WORDS[one.state]
    if one.checks and one.state == TRIED:
        words += f", {one.checks} check{'s' * (one.checks != 1)}"
    if one.was_wrong:
        words += ", and not right when it was checked last"
    bonus = " bonus" if one.task.further else ""
    earned = "–" if one.task.kind == "explain" else f"{one.earned:g}"
    return (
        f"<code>{html.escape(one.task.name)}</code>",
        words,
        f"{earned} of {one.task.points:g}{bonus}",
    )


def _guess(guess: Guess) -> tuple[str, str, str]:
    said, actual = (_amount(value, guess.unit) for value in (guess.value, guess.actual))
    found = html.escape(actual) if guess.actual is not None else "not compared yet"
    return f"<code>{html.escape(guess.key)}</code>", html.escape(said), found


def _told(guess: Guess) -> str:
    """A guess in the terminal."""
    actual = "not compared yet" if guess.actual is None else _amount(guess.actual, guess.unit)
    return f"  {guess.key}: you said {_amount(guess.value, guess.unit)}; it is {actual}"


def _amount(value: Any, unit: str) -> str:
    number = f"{value:.3g}" if isinstance(value, float) else f"{value}"
    return f"{number} {unit}".rstrip()


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """Cells are HTML; the last column holds numbers."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head[:-1])
    top += f'<th scope="col" class="number">{head[-1]}</th>'
    body = "".join(
        "<tr>"
        + "".join(f"<td>{c}</td>" for c in row[:-1])
        + f'<td class="number">{row[-1]}</td></tr>'
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
