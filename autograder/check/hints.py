"""The hint ladder of an exercise: a question, the idea, almost the code.

    hint("passes.dce")      # shows the next of the three

In a notebook a hint is a card, elsewhere it is text. They stand in autograder/units/uNN/hints.md,
away from the code that they are about:

    ## passes.dce

    1. Which node of a graph is needed for certain?
    2. Begin with the outputs ...
    3. `live = set(graph.outputs)`; ...

Next room: cards.py, how it looks; course_lib/exercises.py, what an exercise is.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.util import find_spec

from autograder.check.cards import Card, Note, show
from course_lib.exercises import Slot, slot

KINDS = ("a question", "the idea", "almost the code")
STEPS = len(KINDS)
_shown: dict[str, int] = {}  # how many of its hints each exercise has shown


def hint(name: str) -> None:
    """Show the next of the three hints of an exercise; after the third, all of them."""
    try:
        steps = ladder(slot(name))
    except ValueError as error:  # no such exercise: said in one line, like every other word here
        show(Note(f"{str(error)[:1].upper()}{str(error)[1:]}"))
        return
    if not steps:
        show(Note(f"{name} has no hints."))
        return
    last = _shown.get(name, 0)
    _shown[name] = min(last + 1, STEPS)
    show(_all_of(name, steps) if last == STEPS else _one_of(name, steps, last))


def _one_of(name: str, steps: tuple[str, ...], k: int) -> Card:
    title = f"`{name}`: hint {k + 1} of {STEPS}"
    more = f'Run `hint("{name}")` again for {KINDS[k + 1]}.' if k + 1 < STEPS else ""
    return Card(title, (steps[k],), KINDS[k], more)


def _all_of(name: str, steps: tuple[str, ...]) -> Card:
    return Card(f"`{name}`: all {STEPS} hints", tuple(f"{k}. {s}" for k, s in enumerate(steps, 1)))


def ladder(entry: Slot) -> tuple[str, ...]:
    """The three hints of an exercise; nothing if its unit has none for it."""
    return ladders(entry.key).get(entry.name, ())


@cache
def ladders(key: str) -> dict[str, tuple[str, ...]]:
    """The hints of a unit or lab, by exercise. ValueError if one has more or fewer than three."""
    package = f"autograder.units.{key}"
    if find_spec(package) is None or not (page := files(package) / "hints.md").is_file():
        return {}
    _, *sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    steps_of = {}
    for section in sections:
        name, _, text = section.partition("\n")
        _, *steps = re.split(r"^\d\. ", text, flags=re.MULTILINE)
        if len(steps) != STEPS:
            raise ValueError(f"{name}: a hint ladder has {STEPS} steps, not {len(steps)}")
        steps_of[name.strip()] = tuple(" ".join(step.split()) for step in steps)
    return steps_of
