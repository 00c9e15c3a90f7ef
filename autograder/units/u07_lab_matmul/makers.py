"""What makes the recording of the lab of unit 7: our answers, counted and timed."""

from __future__ import annotations

from course_lib.exercises import slot
from course_lib.maker import in_rows, maker
from lessons.u07.libraries import blas_rates
from lessons.u07_lab_matmul.timing import CACHES, counts_of, rates_of

NAMES = ("naive", "tiled", "packed")


@maker("g++", "g++", compared="all but numbers", seconds=60)
def by_gxx() -> dict[str, str]:
    texts = {name: slot(f"u07_lab_matmul.{name}").reference() for name in NAMES}
    return {"counts": in_rows(map(_short, counts_of(texts))),
            "rates": in_rows(map(_short, rates_of(texts, blas_rates, CACHES)))}  # fmt: skip


def _short(row: list) -> list:
    """With three digits of each number."""
    return [float(f"{x:.3g}") if isinstance(x, float) else x for x in row]
