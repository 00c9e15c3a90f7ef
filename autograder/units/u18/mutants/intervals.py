"""Answers of unit 18, wrong and right: intervals. Next room: reports.py."""

from __future__ import annotations

import math
import statistics

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.exercises import slot

OURS = slot("measure.interval").reference
BOUNDS = "(ratios[cut - 1], ratios[count - cut])"


def _ratios(first, second):
    return [a / b for a, b in zip(first, second, strict=True)]


def _ends(first, second):
    ratios = _ratios(first, second)
    return min(ratios), max(ratios)


def _around(middle, half):
    return max(0.0, middle - half), middle + half


def _unless_few(found):
    """Five rounds or fewer tell nothing."""

    def interval(first, second):
        return found(first, second) if len(first) > 5 else (0.0, math.inf)

    return interval


def _of_the_mean(first, second):
    ratios = np.array(_ratios(first, second))
    return _around(ratios.mean(), 2.1 * ratios.std(ddof=1) / math.sqrt(len(ratios)))


def _of_the_mean_of_logarithms(first, second):
    logs = np.log(_ratios(first, second))
    half = 2.1 * logs.std(ddof=1) / math.sqrt(len(logs))
    return math.exp(logs.mean() - half), math.exp(logs.mean() + half)


def _one_deviation(first, second):
    ratios = np.array(_ratios(first, second))
    return _around(ratios.mean(), ratios.std(ddof=1))


def _of_the_medians(first, second):
    """The two engines by themselves, as if their rounds had nothing to do with each other."""
    (low, high), (least, most) = (OURS(times, [1.0] * len(times)) for times in (first, second))
    return low / most, high / least


def _drawn_again(first, second):
    """Medians of ratios that are drawn again: too narrow for a few rounds."""
    ratios = np.array(_ratios(first, second))
    rng = np.random.default_rng(0)
    middles = np.median(rng.choice(ratios, (400, len(ratios))), axis=1)
    return tuple(np.quantile(middles, [0.025, 0.975]).tolist())


mutants(
    "measure.interval",
    from_least_to_largest=_ends,
    from_least_to_largest_of_six=_unless_few(_ends),
    the_middle_half=_unless_few(
        lambda first, second: tuple(np.quantile(_ratios(first, second), [0.25, 0.75]))
    ),
    of_the_mean=_unless_few(_of_the_mean),
    of_the_mean_of_logarithms=_unless_few(_of_the_mean_of_logarithms),
    one_standard_deviation=_unless_few(_one_deviation),
    of_the_medians=_unless_few(_of_the_medians),
    of_medians_drawn_again=_unless_few(_drawn_again),
    the_other_way_round=("a / b", "b / a"),
    a_percent_around_the_median=_unless_few(
        lambda first, second: _around(statistics.median(_ratios(first, second)), 0.01)
    ),
    never_sure=lambda first, second: (0.0, math.inf),
    at_a_risk_of_one_in_four=("0.025", "0.125"),
    one_closer=("cut else", "cut > 1 else", BOUNDS, "(ratios[cut], ratios[count - cut - 1])"),
    only_below=(BOUNDS, "(ratios[cut - 1], math.inf)"),
    high_and_low=(BOUNDS, "(ratios[count - cut], ratios[cut - 1])"),
    in_the_order_of_the_rounds=("sorted(", "list("),
)


def _resampled(first, second):
    """A percentile bootstrap of the median: what a statistician writes first."""
    ratios = np.array(first) / np.array(second)
    middles = np.median(np.random.default_rng(0).choice(ratios, (1000, len(ratios))), axis=1)
    return float(np.quantile(middles, 0.025)), float(np.quantile(middles, 0.975))


def _by_absolute_deviations(first, second):
    """As if ratios lay normally around their median."""
    ratios = np.array(_ratios(first, second))
    middle = np.median(ratios)
    half = 2.5 * 1.25 * 1.48 * np.median(abs(ratios - middle)) / math.sqrt(len(ratios))
    return _around(middle, half)


def _signed_ranks(first, second):
    """Wilcoxon's: it takes the ratios to be spread alike to both sides."""
    logs = np.sort(np.log(_ratios(first, second)))
    walsh = np.sort([(a + b) / 2 for k, a in enumerate(logs) for b in logs[k:]])
    count, n = len(walsh), len(logs)
    cut = max(0, int(count / 2 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))
    return math.exp(walsh[cut]), math.exp(walsh[-cut - 1])


def _for_some(fits, other):
    """Right for most numbers of rounds."""

    def interval(first, second):
        return OURS(first, second) if fits(len(first)) else other(first, second)

    return interval


def _middle(first, second):
    middle = statistics.median_low(_ratios(first, second))
    return middle, middle


def _by_quantiles(first, second):
    """Shares of the ratios, at 1.96 standard deviations of a count."""
    ratios, half = _ratios(first, second), 0.98 / math.sqrt(len(first))
    low, high = np.quantile(ratios, [max(0, 0.5 - half), min(1, 0.5 + half)])
    return float(low), float(high)


mutants(
    "measure.interval",
    resampled=_unless_few(_resampled),
    by_absolute_deviations=_unless_few(_by_absolute_deviations),
    signed_ranks=_unless_few(_signed_ranks),
    by_quantiles=_unless_few(_by_quantiles),
    up_to_sixty_rounds=_for_some(lambda n: n <= 60, _middle),
    but_for_sixty_one=_for_some(lambda n: n != 61, _middle),
    even_numbers_alone=_for_some(lambda n: n % 2 == 0 or n < 6, _middle),
    all_of_them_beyond_sixty=_for_some(lambda n: n <= 60, _ends),
    by_whole_numbers_of_numpy=_for_some(lambda n: n < 63, _middle),
    one_side_alone=("0.025", "0.05"),
    at_a_risk_of_six_percent=("0.025", "0.03"),
    a_tail_too_many=("tail <= 0.025", "tail <= 0.027"),
)


@mutant("measure.interval")
def for_thirty_rounds_alone(first, second):
    """A third of the ratios is cut off at each end, however many there are."""
    ratios = sorted(_ratios(first, second))
    cut = len(ratios) // 3
    return (ratios[cut], ratios[-cut - 1]) if len(ratios) > 5 else (0.0, math.inf)


@alternative("measure.interval")
def by_the_normal_approximation(first, second):
    """Half of the rounds, less 0.98 times the square root of their number."""
    ratios = sorted(_ratios(first, second))
    cut = int((len(ratios) + 1) / 2 - 0.98 * math.sqrt(len(ratios)))
    return (ratios[cut - 1], ratios[-cut]) if cut > 0 and len(ratios) > 5 else (0.0, math.inf)


@alternative("measure.interval")
def with_numpy_floats(first, second):
    ratios = np.sort(np.array(first) / np.array(second))
    count, below = len(ratios), 0.0
    for k in range(count):
        below += math.comb(count, k) * 0.5**count
        if below > 0.025:
            return [ratios[k - 1], ratios[count - k]] if k else (0, math.inf)
    return None


@alternative("measure.interval")
def by_trying_every_ratio(first, second):
    """The ratios that a sign test does not reject."""
    ratios = sorted(_ratios(first, second))

    def rejected(ratio):
        below, above = sum(r < ratio for r in ratios), sum(r > ratio for r in ratios)
        few = min(below, above)
        tail = sum(math.comb(len(ratios), k) for k in range(few + 1)) / 2 ** len(ratios)
        return tail <= 0.025

    if rejected(0.0):
        kept = [r for r in ratios if not rejected(r)]
        outside = [r for r in ratios if rejected(r)]
        low = max((r for r in outside if r < kept[0]), default=ratios[0])
        return low, min((r for r in outside if r > kept[-1]), default=ratios[-1])
    return 0.0, math.inf


alternatives("measure.interval", a_little_safer=("0.025", "0.02"))

equivalent("measure.interval", "k in range(count)", "list(range(count))[:-1]",
           because="the last tail is nearly 1")  # fmt: skip
equivalent("measure.interval", "in tails", "list(tails)[:-1]", because="the last tail is nearly 1")
equivalent("measure.interval", "tail <= 0.025", "tail < 0.025",
           because="a whole number of 2**n parts is never a 40th")  # fmt: skip
