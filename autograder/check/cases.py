"""A check that goes through a table: a row is a case, and its last column quotes the text.

    SEEN = [(lambda x: x + 0.0, "It is returned.", "the addition is not an output"), ...]

    @for_each("u02.drop_zeros", SEEN, "{} programs whose outputs show it", spec=[BITS])
    def keeps_what_can_be_seen(drop_zeros, make, why, spec):
        '''An addition stays where an output can show the sign of its zero.'''

The function is called with each row in turn, until one is wrong; the rows' quotations are those of
the check, after those of `spec`. Next room: properties.py, the assertions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.check.framework import Spec, checks


def for_each(
    slot: str, rows: Sequence[tuple[Any, ...]], seen: str, *, spec: Spec = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a visible check of `slot`: `function(implementation, *row)` for each row. `seen` is
    what the quiet line says, where {} is the number of rows."""
    words = [spec] if isinstance(spec, str) else [*spec]

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def check(answer: Any) -> str:
            for row in rows:
                function(answer, *row)
            return seen.format(len(rows))

        check.__name__, check.__doc__ = function.__name__, function.__doc__
        check.__module__, check.__qualname__ = function.__module__, function.__qualname__
        return checks(slot, spec=[*words, *(row[-1] for row in rows)])(check)

    return register
