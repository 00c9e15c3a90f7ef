"""Hidden checks of the lab of unit 7: other sizes, some of them drawn."""

from __future__ import annotations

from autograder.check.framework import hidden
from autograder.units.u07_lab_matmul.checks import CACHES, multiplies, run, textbook
from autograder.units.u07_lab_matmul.checks.counts import counted, front_to_back

SEED = 70_712


def drawn(rng, number: int) -> list[tuple[int, ...]]:
    """Sizes that were drawn: small ones, and some that are several blocks."""
    ranges = [((1, 24),) * 3] * number + [((66, 80), (1, 40), (33, 80))]
    return [tuple(int(rng.integers(*one)) for one in three) for three in ranges]


@hidden("u07_lab_matmul.naive", seed=SEED)
def naive_is_the_product_of_other_sizes(naive, rng):
    """Sizes that were drawn for this run."""
    multiplies("naive", naive, drawn(rng, 4))
    textbook(run("naive", naive, (5, 31, 12, *CACHES), 4.0))


@hidden("u07_lab_matmul.tiled", seed=SEED)
def tiled_is_the_product_of_other_sizes(tiled, rng):
    """Sizes that were drawn for this run, and larger caches."""
    multiplies("tiled", tiled, drawn(rng, 6))
    run("tiled", tiled, (9, 20, 300, 32 << 10, 256 << 10), 40.0)


@hidden("u07_lab_matmul.tiled", seed=SEED)
def tiled_moves_little_elsewhere(tiled):
    """Other products."""
    counted("tiled", tiled, [(60, 80, 176), (72, 176, 80)])


@hidden("u07_lab_matmul.packed", seed=SEED)
def packed_is_the_product_of_other_sizes(packed, rng):
    """Sizes that were drawn for this run, and larger caches."""
    multiplies("packed", packed, drawn(rng, 6))
    run("packed", packed, (9, 20, 300, 32 << 10, 256 << 10), 40.0)


@hidden("u07_lab_matmul.packed", seed=SEED)
def packed_moves_little_elsewhere(packed):
    """Other widths."""
    front_to_back(run("packed", packed, (26, 64, 112, *CACHES)))
    counted("packed", packed, [(60, 256, 32), (48, 512, 32)])
