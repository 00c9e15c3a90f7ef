"""The examples of a check: drawn once by Hypothesis, and made smaller when an answer fails.

    for example in examples_of(check, seed): ...
    explore(check, seed, function)      # calls it on the examples, then on smaller and smaller ones

Hypothesis is imported where it is used: the process that runs a student's code has no need of it.
Next room: shrink.py, which makes graphs smaller still; judging.py, who asks.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.check.framework import Check


@functools.cache
def examples_of(check: Check, offset: int) -> list[Any]:
    """The examples of a check, generated once: they are the same for every answer."""
    examples: list[Any] = []
    explore(check, offset, examples.append)
    return examples


def explore(check: Check, offset: int, function: Callable[[Any], None]) -> None:
    """Let Hypothesis call `function` on the examples, and on smaller ones once it raises."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis.configuration import set_hypothesis_home_dir

    assert check.given is not None
    run = settings(
        max_examples=check.examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
    )
    test = run(seed(check.seed + offset)(given(check.given)(lambda example: function(example))))
    # What Hypothesis keeps between runs goes to the user's temporary files, not beside a notebook.
    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / f"hypothesis-{_user()}")
    try:
        test()
    finally:
        set_hypothesis_home_dir(None)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
