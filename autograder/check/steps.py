"""How much work does an answer do? Counted in lines of Python, never in seconds.

    few = with_steps(cse, 200_000, "a program of 1,200 operations", "compare no pairs")
    few(graph)       # raises TimedOut: "More than 200,000 steps for a program of 1,200 operations"

A step is a line of Python that runs in the call, in the student's code or in what it calls. The
count is the same on every machine. The call is stopped at the limit, in the process where it runs:
a notebook's own, or the grader's worker. What one line does in C is one step, with two exceptions.

- A line that takes more than 1 KiB of memory, if only for a moment, is one more for each 64 bytes
  beyond: a slice of all that came before, a copy of a dict, a pass of numpy over an array.
- Each node that a search in a list of nodes compares (`in`, `index`, `count`, `remove`) is one
  more: while steps are counted, `Node.__eq__` is a line of Python. A dict or a set finds a node by
  its hash, and compares it with no other.

Take a generous bound, ten times what ours needs.

Next room: programs.py, whose `diamond` has 2**60 paths; properties.py, the assertions.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import sys
import tracemalloc
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from autograder.check.framework import Implementation, TimedOut
from course_lib.ir.graph.node import Node

FREE, EACH = 1 << 10, 64  # bytes that a line may take, and that count as a step beyond

_limit: ContextVar[int | None] = ContextVar("step limit", default=None)


class OutOfSteps(TimedOut):
    """The call took more steps than it may. A count, so there is no point in trying again."""


def with_steps(
    implementation: Implementation, limit: int, what: str, because: str = ""
) -> Implementation:
    """The answer, with at most `limit` steps for a call. `what` is what it is called with, and
    `because` what usually is the reason if it takes more; both are shown to the student."""

    @functools.wraps(implementation)
    def call(*args: Any, **kwargs: Any) -> Any:
        token = _limit.set(limit)
        try:
            return implementation(*args, **kwargs)
        except OutOfSteps as stop:
            reason = f": {because}" if because else ""
            stop.problem = f"More than {limit:,} steps for {what}{reason}".removesuffix("?") + (
                "?" if reason.endswith("?") else "."
            )
            stop.args, stop.program = (stop.problem,), what
            raise
        finally:
            _limit.reset(token)

    return call


def limit_now() -> int | None:
    """How many steps the call that is made now may take; None for any number."""
    return _limit.get()


@contextlib.contextmanager
def counted(limit: int | None) -> Iterator[None]:
    """Run the block, which is the student's code; raise OutOfSteps once it took `limit` steps."""
    if limit is None:
        yield
        return
    counter = _Counter(limit)
    watched = _monitored(counter) if hasattr(sys, "monitoring") else _traced(counter)
    with _comparisons_in_python(), _memory_traced(), _nothing_collected(), watched:
        yield
    counter.left -= counter.taken()
    if counter.left < 0:  # an `except:` of the student's own took it
        raise OutOfSteps


@contextlib.contextmanager
def _comparisons_in_python() -> Iterator[None]:
    """Nodes are equal if they are the same, as ever, and it takes a line of Python to say so."""
    if "__eq__" in vars(Node):  # it does already: a count within a count
        yield
        return
    setattr(Node, "__eq__", _same)  # noqa: B010
    try:
        yield
    finally:
        delattr(Node, "__eq__")


def _same(self: Node, other: object) -> bool:
    return self is other if isinstance(other, Node) else NotImplemented


@contextlib.contextmanager
def _memory_traced() -> Iterator[None]:
    """Python knows how many bytes are taken. If it did before, it goes on."""
    if tracemalloc.is_tracing():
        yield
        return
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


@contextlib.contextmanager
def _nothing_collected() -> Iterator[None]:
    """The collector of cycles waits. What it calls, and when, would be counted; and the end of the
    steps is lost if it comes while Python code of `gc.callbacks` or of a `__del__` runs."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _Counter:
    def __init__(self, limit: int):
        self.left, self.before = limit, math.inf  # bytes in use at the last line

    def step(self) -> None:
        self.left -= 1 + self.taken()
        if self.left < 0:
            raise OutOfSteps

    def taken(self) -> int:
        """Steps for the bytes that were taken since the last line, and perhaps given back."""
        now, most = tracemalloc.get_traced_memory()
        taken, self.before = most - self.before - FREE, now
        tracemalloc.reset_peak()
        return int(taken) // EACH if taken > 0 else 0


@contextlib.contextmanager
def _traced(counter: _Counter) -> Iterator[None]:
    """Python 3.11: a trace function. A debugger's or a coverage's is back afterwards."""

    left, before = counter.left, counter.before
    traced, reset = tracemalloc.get_traced_memory, tracemalloc.reset_peak

    def local(frame: Any, event: str, _: Any) -> Any:
        nonlocal left, before
        if event == "line":  # `counter.step()`, written out: this runs for every line
            now, most = traced()
            left -= 1
            if most - before > FREE:
                left -= int(most - before - FREE) // EACH
            before = now
            reset()
            if left < 0:
                raise OutOfSteps
        return local

    tracer = sys.gettrace()
    sys.settrace(lambda frame, event, _: local)
    try:
        yield
    finally:
        sys.settrace(tracer)
        counter.left, counter.before = left, before


@contextlib.contextmanager
def _monitored(counter: _Counter) -> Iterator[None]:
    """Python 3.12 and later: `sys.monitoring`, which leaves debuggers alone."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    tool = next((n for n in range(5, -1, -1) if monitoring.get_tool(n) is None), None)
    if tool is None:
        with _traced(counter):
            yield
        return
    monitoring.use_tool_id(tool, "steps of an answer")
    monitoring.register_callback(tool, monitoring.events.LINE, lambda code, line: counter.step())
    monitoring.set_events(tool, monitoring.events.LINE)
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)
