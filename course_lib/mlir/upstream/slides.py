"""A pipeline as pages to walk through: the module after every pass, changed lines marked.

    slides(text, PIPELINES["loops"], "mlp").save("mlp.html")

Next room: `course_lib/mlir/into/read.py`, the way back.
"""

from __future__ import annotations

from course_lib.draw.base.diff import CSS, diff, renumbered
from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.svg import escape, tag
from course_lib.mlir.upstream.passes import Passed, passed
from course_lib.mlir.upstream.pipelines import Pipeline


def slides(text: str, pipeline: Pipeline, title: str, longest: int = 300) -> Picture:
    """All states of a module on its way through a pipeline.

    longest   lines of a state that are shown; the rest is only counted

    ValueError as `passed` says.
    """
    return shown(passed(text, pipeline), pipeline, title, longest)


def shown(
    done: Passed, pipeline: Pipeline, title: str, longest: int = 300, removed: bool = True
) -> Picture:
    """The same of what a tool, or a recording, has said already. Without `removed`, each page shows
    the new text alone: it is easier to read."""
    words = dict(pipeline.steps)
    pages: list[tuple[str, str | Picture]] = []
    before = [*done.states[:1], *done.states]
    for last, state in zip(before, done.states, strict=False):
        old, new = (_first_lines(s.text, longest) for s in (last, state))
        name = short(state.passes) or "as it came"
        pages.append((name, _page(words.get(state.passes, "before any pass"), old, new, removed)))
    if done.trouble:
        pages.append(("stopped", done.trouble + "\n"))
    return stepper(pages, f"{title}: {pipeline.title}, {said_of(done)}")


def _page(words: str, old: str, new: str, removed: bool) -> Picture:
    """What a pass does, in words, and the text with the lines that it changed."""
    html, text = diff(old, new, renumbered(old, new), removed=removed)
    heading = tag("div", escape(words), klass="cl-muted")
    return Picture(words, fragment(heading, html, css=CSS), f"{words}\n{text}")


def said_of(done: Passed) -> str:
    """Which tool, and when."""
    return done.recorded or f"by {done.tool}"


def short(name: str) -> str:
    """func.func(affine-loop-tile{tile-sizes=2,8,4})  ->  affine-loop-tile"""
    return name.removeprefix("func.func(").partition("{")[0].rstrip(")")


def _first_lines(text: str, longest: int) -> str:
    lines = text.splitlines()
    more = len(lines) - longest
    return "\n".join([*lines[:longest], f"... and {more:,} more lines"] if more > 0 else lines)
