"""What an answer returns may still have to run: a generator, a `map`, a `zip`.

    run_out(k for k in (2, 0, 1))       ->  [2, 0, 1]

It is run to its end before the call is over, so its steps and its time are the call's, and an error
in it is an error of the answer. Any other value stays as it is. Next room: writing.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from autograder.wire.writing import MAX_PARTS


def run_out(value: Any) -> Any:
    """An iterator as a list, which one part too many for a message ends; anything else itself."""
    if not isinstance(value, Iterator):
        return value
    try:
        parts = iter(value)
    except TypeError:  # a weak reference looks like an iterator, whatever it is to
        return value
    return list(itertools.islice(parts, MAX_PARTS + 1))
