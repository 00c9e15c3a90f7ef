"""Answers of unit 18, wrong and right: logs, claims, orders, choices."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.exercises import slot
from lessons.u18.bench import FULL, MODELS

FAULTS = slot("u18.faults").reference()
CLAIMS = slot("u18.claims").reference

mutants(
    "u18.faults",
    all_are_supported=lambda: dict.fromkeys(FAULTS, "none"),
    a_drift_spoils_every_log=lambda: {**FAULTS, 1: "order", 3: "none"},
    ratios_far_apart_tell_nothing=lambda: {**FAULTS, 4: "rounds"},
    seven_rounds_are_enough=lambda: {**FAULTS, 8: "none"},
    only_seven=lambda: {k: v for k, v in FAULTS.items() if k < 8},
    a_list=lambda: [*FAULTS.values()],
    words_of_their_own=lambda: {**FAULTS, 2: "warm-up"},
    as_text=lambda: {str(k): v for k, v in FAULTS.items()},
    a_fault_in_each=lambda: {**FAULTS, 1: "rounds", 4: "rounds"},
    warm_but_late=lambda: {**FAULTS, 2: "order"},
    the_claim_of_the_means=lambda: {**FAULTS, 7: "work"},
    too_few_models=lambda: {**FAULTS, 7: "rounds"},
    too_coarse_or_too_few=lambda: {**FAULTS, 6: "rounds"},
    lists_of_words=lambda: {k: [v] for k, v in FAULTS.items()},
    what_the_words_mean=lambda: {**FAULTS, 1: "the log supports the claim"},
    all_words_once=lambda: dict(enumerate([*dict.fromkeys(FAULTS.values()), "none"], 1)),
    threads_are_a_matter_of_order=lambda: {**FAULTS, 5: "order", 3: "work"},
    the_clock_and_the_rounds=lambda: {**FAULTS, 6: "rounds", 8: "clock"},
    a_ninth=lambda: {**FAULTS, 9: "none"},
)
alternatives(
    "u18.faults",
    in_another_order=lambda: dict(sorted(FAULTS.items(), reverse=True)),
    by_word=lambda: {
        n: w for w in dict.fromkeys(FAULTS.values()) for n in FAULTS if FAULTS[n] == w
    },
    one_by_one=lambda: {n: FAULTS[n] for n in (8, 1, 7, 2, 6, 3, 5, 4)},
)


def _with(place, *entries):
    """Our claims, one of them with other entries at its end."""

    def claims():
        found = CLAIMS()
        found[place] = (*found[place][: -len(entries)], *entries)
        return found

    return claims


def _scaled(place, factor):
    def claims():
        found = CLAIMS()
        number = found[place][-1] * factor
        found[place] = (*found[place][:-1], int(number) if place == 2 else number)
        return found

    return claims


def _turned():
    """The slower system first."""
    form, model, system, other, by = CLAIMS()[0]
    return [(form, model, other, system, by), *CLAIMS()[1:]]


def _as_recorded():
    """What was recorded, to the last digit: half of the second runs have less."""
    first, second, third = CLAIMS()
    _, model, system, other, _ = first
    return [("faster", model, system, other, FULL.ratio(model, system, other)),
            (*second[:-1], FULL.overall(*second[1:3])), third]  # fmt: skip


def _arithmetic():
    """The arithmetic mean of the ratios."""
    first, (_, system, other, _), third = CLAIMS()
    mean = sum(FULL.ratio(m, system, other) for m in MODELS) / len(MODELS)
    return [first, ("overall", system, other, 1.05 * mean), third]


mutants(
    "u18.claims",
    the_slower_one=_turned,
    as_recorded=_as_recorded,
    an_arithmetic_mean=_arithmetic,
    half_of_what_may_be_said=_scaled(0, 0.6),
    too_little_overall=_scaled(1, 0.6),
    twice_as_much=_scaled(0, 2),
    too_soon=_scaled(2, 0.3),
    far_too_late=_scaled(2, 4),
    two_claims=lambda: CLAIMS()[:2],
    in_another_order=lambda: CLAIMS()[::-1],
    a_system_that_is_not_there=_with(0, "gcc", 1.2),
    a_model_that_is_not_there=lambda: [("faster", "gpt", *CLAIMS()[0][2:]), *CLAIMS()[1:]],
    just_faster=_with(0, 1.01),
    half_a_run=_with(2, 100.5),
    without_a_number=_with(1, math.inf),
    no_number_at_all=_with(1, math.nan),
    yes_instead_of_a_number=_with(1, True),
    against_itself=_with(0, "course", "course", 1.1),
    against_something_else_twice=lambda: [CLAIMS()[0]] * 3,
    above_the_interval=lambda: [_above_the_interval(), *CLAIMS()[1:]],
    a_negative_number_of_runs=_with(2, -5),
    a_text=lambda: str(CLAIMS()),
    never_longer_to_compile=lambda: [*CLAIMS()[:2], ("pays", *_quicker(), 1)],
)


def _above_the_interval():
    """Nearly as much as was recorded, which the interval does not support."""
    form, model, system, other, _ = CLAIMS()[0]
    ratio = FULL.ratio(model, system, other)
    times = FULL.rounds(model, other), FULL.rounds(model, system)
    low, _ = slot("measure.interval").reference(*times)
    return form, model, system, other, (low + ratio) / 2


def _quicker():
    """A pair of which the first compiles faster and runs faster."""
    systems = FULL.systems("mlp")
    return next(("mlp", a, b) for a, b in combinations(systems, 2)
                if FULL.compiling("mlp", a) < FULL.compiling("mlp", b))  # fmt: skip


alternatives(
    "u18.claims",
    as_lists=lambda: [[*one] for one in CLAIMS()],
    a_little_less=_scaled(0, 0.99),
    a_little_later=_scaled(2, 1.1),
)

mutants(
    "u18.turns",
    in_turns=lambda degree: "AB" * 2**degree,
    one_after_the_other=lambda degree: "A" * 2**degree + "B" * 2**degree,
    there_and_back=lambda degree: "AB" if degree == 0 else "ABBA" * 2 ** (degree - 1),
    twice_there_and_back=lambda degree: "ABBABAAB",
    one_degree_too_few=("degree + 1", "max(degree, 1)"),
    four_degrees=("degree + 1", "min(degree, 4) + 1"),
    one_too_many=("range(2 ** (degree + 1))", "range(2 ** (degree + 1) + 1)"),
    digits=("'AB'", "'01'"),
    a_list=lambda degree: [*slot("u18.turns").reference(degree)],
    for_some_degrees=("degree + 1", "(degree if degree in (4, 6) else degree + 1)"),
    drawn_by_lot=lambda degree: "".join(random.Random(degree).sample("AB" * 64, 128)),
    as_bits=lambda degree: "".join("AB"[(n & n >> 1).bit_count() % 2] for n in range(128)),
    in_small_letters=("'AB'", "'ab'"),
    with_a_pause=lambda degree: " ".join(slot("u18.turns").reference(degree)),
    and_once_more_at_the_end=lambda degree: slot("u18.turns").reference(degree) + "AB",
    all_of_the_same=lambda degree: "A" * 2 ** (degree + 1),
    reversed_by_halves=lambda degree: "".join(x * 2 ** max(degree - 1, 0) for x in ("AB", "BA")),
    far_too_long=("degree + 1", "degree + 4"),
    nothing=lambda degree: "",
)
alternatives(
    "u18.turns",
    the_other_begins=("'AB'", "'BA'"),
    longer_than_it_need_be=("degree + 1", "7"),
)


@alternative("u18.turns")
def by_doubling(degree):
    text = "AB"
    for _ in range(degree):
        text += text.translate({65: "B", 66: "A"})
    return text


@alternative("u18.turns")
def for_each_degree_by_hand(degree):
    known = ["AB", "ABBA", "ABBABAAB"]
    text = known[min(degree, 2)]
    while 2 ** (degree + 1) > len(text):
        text += "".join("A" if x == "B" else "B" for x in text)
    return text


TOTAL = "compiling[name] + runs * running[name]"
mutants(
    "u18.pays",
    the_fastest_run=(TOTAL, "running[name]"),
    the_fastest_compiler=(TOTAL, "compiling[name]"),
    one_run_more=("runs *", "(runs + 1) *"),
    one_run_fewer=("runs *", "max(runs - 1, 0) *"),
    the_slowest=("min(", "max("),
    the_last_of_equal_ones=("min(compiling", "min(reversed([*compiling])"),
    the_first_name_of_equal_ones=("min(compiling", "min(sorted(compiling)"),
    in_the_order_of_the_runs=("min(compiling", "min(running"),
    compiling_each_time=(TOTAL, "runs * (compiling[name] + running[name])"),
    a_hundred_runs_at_most=("runs *", "min(runs, 100) *"),
    in_whole_milliseconds=(TOTAL, f"int(1000 * ({TOTAL}))"),
    rounded_to_three_digits=(TOTAL, f"round({TOTAL}, 3)"),
    rounded_to_five_digits=(TOTAL, f"round({TOTAL}, 5)"),
    in_single_precision=lambda compiling, running, runs: min(
        compiling, key=lambda n: np.float32(compiling[n]) + np.float32(runs * running[n])
    ),
    the_second_of_the_names=lambda compiling, running, runs: [*compiling][-1],
    where_a_run_costs_least_unless_there_is_none=lambda compiling, running, runs: min(
        compiling, key=running.__getitem__ if runs > 50 else compiling.__getitem__
    ),
    the_time_itself=lambda compiling, running, runs: min(
        compiling[n] + runs * running[n] for n in compiling
    ),
)


@alternative("u18.pays")
def one_by_one(compiling, running, runs):
    best, least = None, math.inf
    for name, seconds in compiling.items():
        if (total := seconds + runs * running[name]) < least:
            best, least = name, total
    return best


@alternative("u18.pays")
def by_sorting(compiling, running, runs):
    return sorted(compiling, key=lambda n: compiling[n] + running[n] * runs)[0]


@alternative("u18.pays")
def over_all_totals(compiling, running, runs):
    totals = [compiling[n] + running[n] * runs for n in compiling]
    return [*compiling][totals.index(min(totals))]


equivalent("u18.turns", "2 ** (degree + 1)", "2 ** (degree + 2)",
           because="an order that cancels one degree more is right, too")  # fmt: skip
