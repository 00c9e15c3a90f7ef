"""An answer in the place that it has in the compiler.

    with in_the_compiler("ir.verify.misplaced", misplaced):
        verify(graph)                                # asks the answer

Next room: compiled.py, a whole model compiled with an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from course_lib.exercises import plugged


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
