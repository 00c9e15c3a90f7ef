"""Hidden checks of the words: other seeds, fields of up to 400 bits, and up to 24 of them."""

from __future__ import annotations

from autograder.check.framework import harder
from autograder.units.u13.checks.words import cases, longer_words, misfits, words

SEED = 130_211

harder("u13.encode", "each_in_its_bits", seed=SEED, examples=60, given=cases(24, 400))
harder("u13.encode", "what_does_not_fit", seed=SEED, examples=40, given=misfits(24, 400))
harder("u13.decode", "finds_each", seed=SEED, examples=60, given=words(24, 400))
harder("u13.decode", "nothing_behind_the_last", seed=SEED, examples=40, given=longer_words(24, 400))
