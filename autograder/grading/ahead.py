"""The calls that a check will make, known before it makes them.

    foreseen(check, seed)      # -> the messages of its calls, encoded once for a whole class

A check calls every answer with the same arguments: its examples. So they are written down once, by
running the check on our own answer, and a worker gets all of them in one go (`Worker.ahead`). Its
replies wait there until the check asks. That changes no verdict: a call that was not foreseen is
made when it is asked for, and after a reply that did not come all are made again, one at a time.

    keep_calls(assignment, seed)                 # of the visible checks, once for a class
    kept_calls(assignment, seed)                 # -> the file that has them, for the workers

What a call passes is the same for all submissions. So a file keeps the messages, and the process
from which the workers branch off reads them once: a worker finds the graphs made (`known`). What
hidden checks pass is nowhere near a submission before its answer is called with it.

Next room: sandbox.py, where the replies are kept.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import tempfile
from dataclasses import dataclass
from typing import Any

from autograder.check.framework import Check, Crashed, Stop, checks_of
from autograder.check.judging import perform
from autograder.check.shown import error_text
from autograder.check.steps import limit_now
from autograder.grading.assignment import Assignment
from autograder.grading.frames import frame
from autograder.wire.codec import Codec, Unsendable
from course_lib import exercises
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node

UNCHANGING = (Graph, Node, bool, int, float, str, type(None))
LARGE = 1 << 20  # bytes: such a call is mostly arrays, and those are read quickly

_files: dict[tuple[Assignment, int], int] = {}  # descriptors


@dataclass(frozen=True, eq=False)
class Prepared:
    """A call as a message, with the numbers that its nodes have on the wire."""

    args: tuple
    kwargs: dict
    steps: int | None
    data: bytes
    codec: Codec


def prepared(name: str, args: tuple, kwargs: dict) -> Prepared | None:
    """The call as a message, with the steps that it may take; None if it passes a function, which
    would call back."""
    codec, steps = Codec(), limit_now()
    try:
        data = codec.encode(("call", name, args, kwargs, steps))
    except Unsendable:
        return None
    return None if codec.functions else Prepared(args, kwargs, steps, data, codec)


def identity(args: tuple, kwargs: dict, steps: int | None) -> tuple[int | None, ...] | None:
    """The same for the same call; None if one of its arguments may have changed in between."""
    if kwargs or not all(isinstance(a, UNCHANGING) for a in args):
        return None
    return steps, *map(id, args)


@functools.cache
def foreseen(check: Check, seed: int) -> tuple[Prepared, ...]:
    """The calls that the check makes of our own answer, in their order."""
    reference = exercises.slot(check.slot).reference
    calls: list[Prepared | None] = []

    def watched(*args: Any, **kwargs: Any) -> Any:
        calls.append(prepared(check.slot, args, kwargs))  # now: the check may change them later
        try:
            return reference(*args, **kwargs)
        except Exception as error:  # as a check sees it that wants one
            kinds = tuple(kind.__name__ for kind in type(error).__mro__)
            raise Crashed(error_text(error), kinds=kinds) from None

    nowhere = contextlib.redirect_stdout(io.StringIO())  # nobody asked what ours prints
    with exercises.using({}), nowhere, contextlib.suppress(Exception, Stop):
        perform(check, watched, seed, shrink=False)
    return tuple(call for call in calls if call is not None)


def keep_calls(assignment: Assignment, seed: int) -> None:
    """Write the calls of its visible checks into a file, which lasts as long as this process."""
    checks = [c for e in assignment.slots for c in checks_of(e.name)]
    calls = dict.fromkeys(call.data for check in checks for call in foreseen(check, seed))
    with tempfile.TemporaryFile() as file:
        file.writelines(frame(data) for data in calls if len(data) < LARGE)
        file.flush()
        _files[assignment, seed] = os.dup(file.fileno())


def kept_calls(assignment: Assignment, seed: int) -> int | None:
    """The descriptor of that file; None if nobody wrote one."""
    return _files.get((assignment, seed))
