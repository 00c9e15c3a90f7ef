"""The lab of unit 9, tuners: what a search costs, what logs say, a cost model from measurements.

The bodies are our answers and never ship. The recordings stand in lessons/u09_lab_tuners.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u09_lab_tuners.records", unit=9, lab="tuners", points=3)
def records(text: str) -> list[tuple[int, float]]:
    """Read a log of AutoTVM, Ansor or MetaSchedule.

    text     lines of JSON; every line that is not blank is a trial
    returns  a pair for each trial, in order: its number, from 1, and its seconds

    A schedule is run several times in a trial; its seconds are the least of these times. A trial
    that failed has `math.inf` seconds, and still counts.

    AutoTVM       an object; "result" is [times, error number, seconds in all, date]
    Ansor         an object; "r" is the same list
    MetaSchedule  a list of two: the number of the workload, and
                  [trace, times, target, types of the arguments]

    With AutoTVM and Ansor, a trial failed if its error number is not 0. MetaSchedule has no such
    number: it writes a time of 1e10 for a trial that failed.
    """
    found = []
    for line in filter(str.strip, text.splitlines()):
        row = json.loads(line)
        if isinstance(row, list):
            times = row[1][1]
            failed = max(times) >= 1e10
        else:
            times, error, *_ = row["result"] if "result" in row else row["r"]
            failed = error != 0
        found.append((len(found) + 1, math.inf if failed else min(times)))
    return found


@exercise("u09_lab_tuners.needed", unit=9, lab="tuners", points=2)
def needed(logs: Mapping[str, Sequence[tuple[int, float]]], within: float) -> dict[str, int | None]:
    """How many trials does each tuner need?

    logs     for each tuner, pairs of a trial's number and its seconds, in order, numbered from 1;
             a tuner may have no trials
    within   a fraction such as 0.1
    returns  for each tuner, the number of trials until it has a schedule that is good enough, or
             None if it never has one

    All tuners have the same goal: a schedule is good enough if it takes at most 1 + `within` times
    as long as the fastest of all logs. A failed trial counts and is never good enough, even where
    all trials failed.
    """
    goal = (1 + within) * min((s for log in logs.values() for _, s in log), default=math.inf)
    return {
        tuner: next((n for n, seconds in log if seconds <= goal and seconds < math.inf), None)
        for tuner, log in logs.items()
    }


@exercise("u09_lab_tuners.features", unit=9, lab="tuners", points=3)
def features(schedule: Mapping[str, Any]) -> dict[str, int]:
    """Say in numbers what the loops of a schedule do.

    schedule  the parts of the three loops, from the outermost to the innermost, such as
              {"i": [32, 2, 2], "j": [8, 4, 16], "r": [98, 8], "unroll": False}
    returns   the four numbers below, by name

    The program is c[i, j] += a[i, r] * b[r, j] on float32. With i split into i0, i1, i2, and j
    and r in the same way, its loops are i0, j0, r0, i1, j1, r1, i2, j2 from the outside; j2 is
    vectorized.

    - "lanes": how many iterations j2 has
    - "sums": how many elements of c the loops i2 and j2 update
    - "block": how many bytes of a, b and c together the loops inside r0 touch; each element counts
      once
    - "traffic": how many bytes are fetched if each iteration of r0, over the whole run, fetches its
      block anew
    """
    (i0, i1, i2), (j0, j1, j2), (r0, r1) = schedule["i"], schedule["j"], schedule["r"]
    rows, columns = i1 * i2, j1 * j2
    block = 4 * (rows * r1 + r1 * columns + rows * columns)
    return {"lanes": j2, "sums": i2 * j2, "block": block, "traffic": i0 * j0 * r0 * block}


@exercise(
    "u09_lab_tuners.predicted", unit=9, lab="tuners", points=4, kind="budget",
    uses=("u09_lab_tuners.features",),
)  # fmt: skip
def predicted(
    known: Sequence[Mapping[str, Any]],
    seconds: Sequence[float],
    asked: Sequence[Mapping[str, Any]],
) -> list[float]:
    """Learn from measured schedules how fast others are.

    known    schedules that were measured, as `features` takes them, at least 32
    seconds  the time of each of them
    asked    other schedules of the same program, one or more
    returns  a finite number for each schedule of `asked`; a smaller number means a faster schedule

    Only the order counts: the score is the rank correlation of your numbers with the seconds that
    were measured, averaged over several layers and splits. A rank correlation of 1 means the
    same order. All points are earned from 0.6 up, and none up to 0.48. The same call must return
    the same numbers every time. Your function may call `features`, and it may use numpy.
    """
    rows = _rows(known)
    small = 100 * np.eye(rows.shape[1])  # keeps weights small that the times do not need
    weights = np.linalg.solve(rows.T @ rows + small, rows.T @ np.log(seconds))
    return (_rows(asked) @ weights).tolist()


def _rows(schedules: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """For each schedule the products of any two of: 1, logarithms of its parts and features."""
    logs = np.log2([
        [2, *one["i"], *one["j"], *one["r"], *features(one).values(), 1 + one["unroll"]]
        for one in schedules
    ])  # fmt: skip
    return (logs[:, :, None] * logs[:, None, :]).reshape(len(logs), -1)


@exercise("u09_lab_tuners.worth", unit=9, lab="tuners", points=3, kind="explain")
def worth() -> Rubric:
    """Which search would you pay for? Choose one of tinygrad's widths, or none, for a model that
    runs 10,000 times, and one of TVM's tuners for a layer for which you can measure 64 schedules.
    Give two of your numbers for each choice. Then say whether your cost model should choose what
    is measured, and which number says how far you can trust it among good schedules. Name one thing
    that your numbers cannot tell you. Write four to eight sentences.
    """
    return Rubric(
        criteria="1 point for the width: the seconds of the search are set against what a run "
        "gains (by the recorded runs, BEAM=1 pays after about 13,000 runs and wider beams "
        "later, so none pays within 10,000; a student's own table may say otherwise). Half a point "
        "for a choice with only one of the two numbers. 1 point for the tuner: it names what was "
        "found within 64 trials, or the median, or the second measurement. Half a point if only "
        "the ends of the logs are compared, or if the 16 trials of the learned AutoTVM are called "
        "a success of its model, which chose none of them. 1 point for the model and a limit: half "
        "for a rank correlation or regret among the good schedules, set against chance, half for "
        "something that the numbers cannot tell, such as another seed, layer or machine, a quiet "
        "machine, or the time to write the template. Other choices than ours earn all points if "
        "the numbers support them.",
        samples=(
            Sample(3, "For 10,000 runs I would not search: BEAM=1 costs 11.9 s and saves 0.89 ms a "
                   "run, so it pays after 13,300 runs, and BEAM=3 after 37,800. For the layer I "
                   "take the AutoTVM that learns: within 64 trials, no other tuner has a model, "
                   "and half of its trials took at most 1.25 ms, against 16.7 ms at random. It "
                   "was within 25 % of the best after 16 trials, but that was luck, as these were "
                   "drawn at random. My model may leave out bad schedules: its rank correlation is "
                   "0.84 among random ones. Among the good ones it is 0.35, and its first eight "
                   "are no better than eight by chance, so there I would measure. With one seed "
                   "for each tuner, I cannot tell which of them would win again."),
            Sample(2, "BEAM=1 costs 11.9 s and saves 0.89 ms a run, so it pays after 13,300 runs, "
                   "and 10,000 are too few. The random search has the fastest schedule, with "
                   "0.69 ms, so I take it. My model's rank correlation among the good ones is "
                   "0.35, so it helps a little."),
            Sample(0, "BEAM=3, because a wider beam looks at more schedules and finds the best. "
                   "MetaSchedule is the newest of the tuners and therefore the best choice."),
        ),
    )  # fmt: skip
