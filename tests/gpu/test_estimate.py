"""The estimate of a kernel's time puts kernels into nearly the order that an H200 does."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from course_lib.gpu.count.cards import H200
from course_lib.gpu.count.estimate import Estimate, estimate
from course_lib.gpu.count.occupancy import occupancy
from course_lib.gpu.recordings import recordings

from .runs import counted


def guess(name: str) -> Estimate:
    run = counted(name)
    return estimate(H200, run.counters, run.cached, run.fits, run.shape)


def ranks(values: Sequence[float]) -> np.ndarray:
    """From 0; equal ones share the middle of their places."""
    v = np.asarray(values)
    return np.array([(v < x).sum() + ((v == x).sum() - 1) / 2 for x in v])


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def test_the_correlation_itself() -> None:
    assert spearman([1, 2, 3], [10, 200, 3000]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert ranks([5, 1, 5]).tolist() == [1.5, 0, 1.5]


@pytest.mark.parametrize(("column", "found", "floor"), [
    ("duration_ns", 0.93, 0.88), ("median_us", 0.86, 0.8),
])  # fmt: skip
def test_order_of_the_recorded_kernels(column: str, found: float, floor: float) -> None:
    """0.93 and 0.86 are what the docstring of the module says."""
    measured = [found.counters[column] for found in recordings().values()]
    reached = spearman([guess(name).seconds for name in recordings()], measured)
    assert reached > floor
    assert round(reached, 2) == found


def test_no_kernel_is_far_off() -> None:
    """By the profiler's clock: from 0.6 times the estimate (`matmul_regs`) to 3 times
    (`trip_counts`)."""
    ratios = {
        name: found.counters["duration_ns"] * 1e-9 / guess(name).seconds
        for name, found in recordings().items()
    }
    assert min(ratios, key=lambda name: ratios[name]) == "matmul_regs"
    assert max(ratios, key=lambda name: ratios[name]) == "trip_counts"
    assert ratios["matmul_regs"] > 0.59 and ratios["trip_counts"] < 3.01


@pytest.mark.parametrize(("name", "limit"), [
    ("shared_stride32", "L1"), ("transpose_shared", "L1"), ("copy_stride8", "L2"),
    ("gather", "L2"), ("histogram_global", "atomics"), ("matmul_naive", "latency"),
    ("shared_vec4", "DRAM"), ("diverge_lane", "issue"),
])  # fmt: skip
def test_what_limits_a_kernel(name: str, limit: str) -> None:
    found = guess(name)
    assert found.limited_by == limit
    assert found.seconds > found.terms[limit] == max(found.terms.values())


def test_a_part_that_is_twice_as_fast_takes_half_the_time() -> None:
    run = counted("copy_stride8")
    fast = replace(H200, second_level_bytes=2 * H200.second_level_bytes)
    there = estimate(fast, run.counters, run.cached, run.fits, run.shape)
    assert there.terms["L2"] == pytest.approx(guess("copy_stride8").terms["L2"] / 2)
    assert there.terms["DRAM"] == guess("copy_stride8").terms["DRAM"]


def test_a_kernel_that_does_not_fit() -> None:
    run = counted("copy_vec4")
    with pytest.raises(ValueError, match="no block"):
        estimate(H200, run.counters, run.cached, occupancy(H200.card, 1024, 128), run.shape)
