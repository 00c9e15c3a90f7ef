"""Every seed makes examples: a generator that draws what cannot be would stop a class from being
graded before anybody is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.check.examples import examples_of
from autograder.check.framework import checks_of
from autograder.edition.contents import COURSE
from autograder.edition.sources import sources

KEYS = [source.key for source in sources(COURSE / "notebooks")]
SEEDS, EACH = 20, 2


@pytest.mark.parametrize("key", KEYS)
def test_every_check_has_examples_whatever_the_seed(key):
    (source,) = sources(COURSE / "notebooks", key)
    for name in source.exercises():
        for check in checks_of(name, with_hidden=True):
            if check.given is None:
                continue
            few = replace(check, examples=EACH)
            for seed in range(SEEDS):
                made = examples_of.__wrapped__(few, seed)
                assert made, f"{name}, {check.name}: no example for seed {seed}"
