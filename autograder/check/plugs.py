"""What is plugged in while an exercise is checked, and an answer in its place in the compiler.

    plugs_for("passes.dce")        ->   {"passes.dce": <function dce>, ...}
    with in_the_compiler("ir.verify.misplaced", misplaced):
        verify(graph)                                # asks the answer
    with own_alone("passes.fuse"):                   # without those of other notebooks

Next room: compiled.py, a whole model compiled with an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from course_lib.exercises import plugged, plugs_now, slot, using


def plugs_for(
    name: str, plugs: Mapping[str, Callable[..., Any]] | None = None
) -> dict[str, Callable[..., Any]]:
    """What stays plugged in (of `plugs`; else of what is) while one exercise is checked: its
    answer, what that may use, and what has no stand-in. A wrong answer costs its own points and no
    others."""
    kept, found = (name, *slot(name).uses), plugs_now() if plugs is None else plugs
    return {n: f for n, f in found.items() if n in kept or slot(n).baseline is None}


@contextmanager
def in_the_compiler(name: str, answer: Any) -> Iterator[None]:
    """Run the block with `answer` in the slot `name`.

    While the answer runs, the slot is ours: what crosses to it is written by the library. And its
    call does not count as one from itself, which is refused.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        with plugged(name, None):
            return Context().run(answer, *args, **kwargs)

    with plugged(name, call):
        yield


def borrowed(function: Callable[..., Any], file: str) -> Callable[..., Any]:
    """The function, marked as one of another notebook: `__wrapped__` is what stands there."""
    vars(function)["borrowed_from"] = file
    return function


def is_borrowed(name: str) -> bool:
    """Is what is plugged in there from another notebook?"""
    return hasattr(slot(name).plugged, "borrowed_from")


def fall(function: Callable[..., Any]) -> None:
    """Mark a borrowed function that has raised: from now on the library's own runs in its place."""
    vars(function)["fallen"] = True


def has_fallen(function: Callable[..., Any] | None) -> bool:
    return getattr(function, "fallen", False)


@contextmanager
def own_alone(name: str) -> Iterator[None]:
    """Run the block without answers of other notebooks, as the grader runs it; the answer `name`
    itself stays, and raises what it raises."""
    kept = {n: f for n, f in plugs_now().items() if n == name or not is_borrowed(n)}
    if is_borrowed(name):
        kept[name] = vars(kept[name])["__wrapped__"]
    with using(kept):
        yield
