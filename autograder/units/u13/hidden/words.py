"""Hidden checks of the words: other seeds, wider fields, more of them."""

from __future__ import annotations

from autograder.check.framework import harder
from autograder.units.u13.checks.words import cases, words

SEED = 130_211

harder("u13.encode", "each_in_its_bits", seed=SEED, examples=150, given=cases(9, 32))
harder("u13.decode", "finds_each", seed=SEED, examples=150, given=words(9, 32))
