"""Rewrite rules from outside, inside one of tinygrad's passes.

    with added(rules_of(narrowed)):          the rule of `course_lib/plugins/narrow.py`
        model(x).numpy()                     ->  int8 between the kernels, and not int32

tinygrad's rules are values, patterns with functions, and its passes look them up by name when they
run. So a rule is added by putting a longer list in the place of the list of one pass: here of the
last one before values that will be stored (`STAGE`) become stores. Next room:
`door.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tinygrad.helpers import Context
from tinygrad.schedule import rangeify
from tinygrad.uop.ops import PatternMatcher


@contextmanager
def added(rules: PatternMatcher) -> Iterator[None]:
    """tinygrad with these rules in the pass that limits buffers, and with empty caches of what it
    made without them."""
    before = rangeify.pm_limit_bufs
    rangeify.pm_limit_bufs = before + rules
    try:
        with Context(SCACHE=0):
            yield
    finally:
        rangeify.pm_limit_bufs = before
