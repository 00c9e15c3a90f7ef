"""Visible checks of the lab of unit 9: logs, features, a model on recorded times.

Next room: autograder/units/u09_lab_tuners/hidden/__init__.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.properties import a_number
from autograder.check.shown import returned
from lessons.u09_lab_tuners.logs import LAYER, LEARNED, LOGS, Layer, rank_correlation, regret

# ── logs ──

RECORDS = ("Read a log of AutoTVM, Ansor or MetaSchedule",
           "lines of JSON; every line that is not blank is a trial",
           "a pair for each trial, in order: its number, from 1, and its seconds",
           "A schedule is run several times in a trial; its seconds are the least of these times",
           "A trial that failed has `math.inf` seconds, and still counts",
           "With AutoTVM and Ansor, a trial failed if its error number is not 0",
           "it writes a time of 1e10 for a trial that failed")  # fmt: skip
FORMS = "AutoTVM ... types of the arguments]"


def autotvm(times: Sequence[float], error: int) -> Any:
    entity = [["tile_i", "sp", [-1, 2, 2]], ["unroll", "ot", True]]
    return {"input": ["llvm", "lab/matmul", [8, 8, 8], {}], "version": 0.2,
            "config": {"index": 7, "code_hash": None, "entity": entity},
            "result": [list(times), error, 0.5, 1795872541.25]}  # fmt: skip


def ansor(times: Sequence[float], error: int) -> Any:
    steps = [[], [["SP", 2, 0, 128, [8, 1, 4], 1], ["AN", 2, 8, 2]]]
    return {"i": [['["layer", 8, 8, 8]', "llvm", [1, 64]], steps],
            "r": [list(times), error, 0.25, 1795872541], "v": "v0.6"}  # fmt: skip


def metaschedule(times: Sequence[float], error: int) -> Any:
    decisions = [[4, [8, 8, 1, 2]], [13, 0]]
    arguments = [["TENSOR", "float32", [8, 8]]]
    return [3, [[[], decisions], [1e10] if error else list(times), {"kind": "llvm"}, arguments]]


@st.composite
def logs(draw: DrawFn, most: int = 6) -> tuple[str, list[tuple[int, float]]]:
    """A log, and what stands in it. Failed trials of AutoTVM and Ansor have an error number from 1
    to 8, and any times; a slow trial that did not fail takes minutes."""
    writer = draw(st.sampled_from([autotvm, ansor, metaschedule]))
    lines, right = [], []
    for number in range(1, draw(st.integers(0, most)) + 1):
        times = draw(st.lists(st.sampled_from([0.25, 3e-5, 0.5, 2.0, 700.0, 1e-9]), min_size=1,
                              max_size=4))  # fmt: skip
        error = draw(st.sampled_from([0, 0, 0, 1, 2, 4, 8]))
        fails = error and draw(st.booleans())
        lines.append(json.dumps(writer([1e9] if fails else times, error)))
        right.append((number, math.inf if error else min(times)))
        lines += draw(st.sampled_from([[], [], [""], ["  "]]))
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"])), right


def pairs(got: Any, call: str) -> list[tuple[float, float]]:
    """A list of pairs of numbers, whatever they are made of."""
    if not isinstance(got, list | tuple):
        raise Wrong("The answer must be a list of pairs.", program=call, got=returned(got))
    found = []
    for pair in got:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise Wrong("Each entry of the list must be a pair.", program=call, got=returned(pair))
        try:
            found.append((float(pair[0]), float(pair[1])))
        except (TypeError, ValueError):
            raise Wrong("A pair must have two numbers.", program=call, got=str(pair)) from None
    return found


def same_pairs(got: Any, right: Sequence[tuple[int, float]], call: str, spec: str = "") -> None:
    found = pairs(got, call)
    if found != [*right]:
        raise Wrong("The pairs are wrong.", program=call, expected=str(right), spec=spec,
                    got=str([(int(n) if n.is_integer() else n, s) for n, s in found]))  # fmt: skip


@checks("u09_lab_tuners.records", given=logs(), examples=80, what="made-up logs", spec=RECORDS)
def reads_each_form(records, given):
    """Each trial is read, failed or not."""
    text, right = given
    same_pairs(records(text), right, text)


@checks("u09_lab_tuners.records", spec=[RECORDS[0], FORMS])
def reads_what_the_tuners_wrote(records):
    """The recorded logs: their numbers of trials."""
    for tuner, text in LOGS.items():
        found = pairs(records(text), f"the recorded log of {tuner}")
        count = sum(map(bool, map(str.strip, text.splitlines())))
        if [n for n, _ in found] != [*range(1, count + 1)]:
            raise Wrong(f"The log of {tuner} has {count} trials.", got=f"{len(found)} pairs")
    return f"the logs of {', '.join(LOGS)}"


# ── how many trials a search needs ──

TIMES = st.sampled_from([1.0, 2.0, 0.5, 0.25, 3.0, 1.125, 4e-6, 1e12, math.inf, math.inf])


@st.composite
def histories(draw: DrawFn, most: int) -> list[tuple[int, float]]:
    return [*enumerate(draw(st.lists(TIMES, max_size=most)), 1)]


NEEDED = ("How many trials does each tuner need",
          "for each tuner, the number of trials until it has a schedule that is good enough",
          "or None if it never has", "All tuners have the same goal",
          "a schedule is good enough if it takes at most 1 +",
          "times as long as the fastest of all logs",
          "A failed trial counts and is never good enough, even where all trials failed",
          "a tuner may have no trials", "a fraction such as 0.1",
          "pairs of a trial's number and its seconds, in order, numbered from 1")  # fmt: skip


@st.composite
def several(draw: DrawFn, most: int = 6) -> tuple[dict[str, list[tuple[int, float]]], float]:
    """Some logs, and a share; many times lie at the goal, or a little beside it."""
    names = draw(st.lists(st.sampled_from(["random", "Ansor", "x"]), unique=True,
                               min_size=1, max_size=3))  # fmt: skip
    made = {name: draw(histories(most)) for name in names}
    if draw(st.integers(0, 5)) == 0:  # nothing worked
        made = {name: [(n, math.inf) for n, _ in log] for name, log in made.items()}
    return made, draw(st.sampled_from([0.0, 0.125, 1.0, 3.0, 0.5]))


def reached(log: Sequence[tuple[int, float]], goal: float) -> list[int]:
    return [number for number, seconds in log if seconds <= goal and math.isfinite(seconds)]


@checks("u09_lab_tuners.needed", given=several(), examples=120, what="made-up logs", spec=NEEDED)
def the_first_that_is_good_enough(needed, given):
    """The first trial of each tuner that reaches the common goal."""
    made, within = given
    call = f"needed({made}, {within})"
    found = needed(made, within)
    if not isinstance(found, Mapping) or set(found) != set(made):
        raise Wrong("There must be an entry for each tuner.", program=call, got=returned(found),
                    spec=NEEDED[1])  # fmt: skip
    finite = [s for log in made.values() for _, s in log if math.isfinite(s)]
    for tuner, log in made.items():
        first = reached(log, (1 + within) * min(finite))[:1] if finite else []
        right = first[0] if first else None
        if found[tuner] != right or isinstance(found[tuner], bool):
            raise Wrong(f"The entry of {tuner!r} is not right.", program=call,
                        got=repr(found[tuner])[:200], expected=str(right))  # fmt: skip


# ── features ──

FEATURES = ("Say in numbers what the loops of a schedule do", "the four numbers below, by name",
            "how many iterations j2 has", "how many elements of c the loops i2 and j2 update",
            "how many bytes of a, b and c together the loops inside r0 touch",
            "each element counts once",
            "how many bytes are fetched if each iteration of r0, over the whole run, fetches its "
            "block anew",
            "The program is c[i, j] += a[i, r] * b[r, j] on float32",
            "its loops are i0, j0, r0, i1, j1, r1, i2, j2 from the outside",
            "the parts of the three loops, from the outermost to the innermost")  # fmt: skip
NAMES = {"lanes": FEATURES[2], "sums": FEATURES[3], "block": FEATURES[4], "traffic": FEATURES[6]}


@st.composite
def nests(draw: DrawFn, most: int = 3) -> dict[str, Any]:
    """Small nests, whose loops can be run."""
    part = st.integers(1, most)
    parts = {name: [draw(part) for _ in range(2 if name == "r" else 3)] for name in "ijr"}
    return {**parts, "unroll": draw(st.booleans())}


@checks("u09_lab_tuners.features", given=nests(), examples=60, what="random nests", spec=FEATURES)
def the_numbers_are_those_of_the_loops(features, schedule):
    """The loops are run, and what they touch is counted."""
    (i0, i1, i2), (j0, j1, j2), (r0, r1) = (schedule[name] for name in "ijr")
    touched, updated = set(), set()
    for place in np.ndindex(i1, j1, r1, i2, j2):
        i, j, r = place[0] * i2 + place[3], place[1] * j2 + place[4], place[2]
        touched |= {("a", i, r), ("b", r, j), ("c", i, j)}
        updated |= {(i, j)} if place[:3] == (0, 0, 0) else set()
    size, starts = 4 * len(touched), sum(1 for _ in np.ndindex(i0, j0, r0))
    has_the_numbers(features, schedule, {"lanes": j2, "sums": len(updated), "block": size,
                                         "traffic": size * starts})  # fmt: skip


def has_the_numbers(features: Any, schedule: Mapping[str, Any], right: Mapping[str, int]) -> None:
    call, found = f"features({schedule})", features(schedule)
    if not isinstance(found, Mapping) or set(found) != set(right):
        raise Wrong("There must be four numbers, by name.", program=call, got=returned(found),
                    expected=", ".join(right), spec=FEATURES[1])  # fmt: skip
    for name, value in right.items():
        if a_number(found[name], unit=name, program=call) != value:
            raise Wrong(f'"{name}" is not right.', program=call, got=returned(found[name]),
                        expected=str(value), spec=NAMES[name])  # fmt: skip


# ── a model ──

MODEL = ("Learn from measured schedules how fast others are",
         "a finite number for each schedule of `asked`; a smaller number means a faster schedule",
         "Only the order counts: the score is the rank correlation of your numbers with the "
         "seconds that were measured, averaged over several layers and splits",
         "The same call must return the same numbers every time",
         "All points are earned from 0.6 up, and none up to 0.48",
         "other schedules of the same program, one or more", "the time of each of them",
         "at least 32")  # fmt: skip
GOOD, WORST, SPLITS = 0.6, 0.48, 3
SEEN = {"drawn at random": LAYER, "of the learned search": LEARNED}


def asked(predicted: Any, known: Layer, others: Layer) -> list[float]:
    """The numbers for `others`, which must be one finite number each."""
    call = f"predicted(known, seconds, asked) with {len(known.seconds)} known schedules and " \
        f"{len(others.seconds)} asked"  # fmt: skip
    got = predicted([*known.schedules], [*known.seconds], [*others.schedules])
    try:
        numbers = np.asarray(got, float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (len(others.seconds),):
        raise Wrong("There must be a number for each schedule of `asked`.", program=call,
                    got=returned(got), spec=MODEL[1])  # fmt: skip
    if not np.isfinite(numbers).all():
        raise Wrong("Each number must be finite.", program=call, got=str(numbers), spec=MODEL[1])
    return numbers.tolist()


def score(predicted: Any, layers: Mapping[str, Layer], seed: int) -> Score:
    """The mean rank correlation on halves that the model has not seen."""
    found: dict[str, list[float]] = {}
    losses = []
    for name, layer in layers.items():
        for split in range(SPLITS):
            known, others = layer.halves(seed + split)
            numbers = asked(predicted, known, others)
            found.setdefault(name, []).append(rank_correlation(numbers, others.seconds))
            losses.append(regret(numbers, others.seconds, 8))
    mean = float(np.mean([*found.values()]))
    each = "; ".join(f"{name}: {np.mean(values):.2f}" for name, values in found.items())
    share = min(1.0, max(0.0, (mean - WORST) / (GOOD - WORST)))
    return Score(share, f"rank correlation {mean:.3f} ({each}); all points from {GOOD} up, none up "
                 f"to {WORST}; the best of your first 8 is {np.mean(losses):.0%} slower than the "
                 f"best")  # fmt: skip


@checks("u09_lab_tuners.predicted", spec=[MODEL[1], MODEL[3], *MODEL[5:]])
def it_answers_alike_each_time(predicted):
    """32 known schedules; one in `asked`, and 32."""
    known, others = LAYER.part(range(32)), LAYER.part(range(32, 64))
    once, again = (asked(predicted, known, others) for _ in range(2))
    if once != again:
        raise Wrong("The second call returned other numbers.", got=str(again), expected=str(once),
                    spec=MODEL[3])  # fmt: skip
    asked(predicted, known, LAYER.part([40]))


@checks("u09_lab_tuners.predicted", spec=[MODEL[0], MODEL[2], MODEL[4]])
def the_order_is_right(predicted):
    """Schedules that it has not seen: of those drawn at random, and of the learned search."""
    return score(predicted, SEEN, seed=900)


background("u09_lab_tuners.predicted", "A rank correlation of 1 means the same order",
           because="what the score means")  # fmt: skip
background("u09_lab_tuners.predicted", "Your function may call `features`, and it may use numpy",
           because="a permission")  # fmt: skip
