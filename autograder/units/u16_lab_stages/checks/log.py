"""Visible checks of `winner`: logs that are made up, and the three that were recorded.

`logs` writes traces as MetaSchedule does and knows what they decide. Next room: firmware.py.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from autograder.check.traces import Trace
from lessons.u16_lab_stages.logs import LOGS

NAME = "u16_lab_stages.winner"
SEVEN = "the seven entries below, by name"
ENTRIES = {
    "trial": "its number, counted from 1; the first one, if several are equally fast",
    "ratio": "how many times as fast it is as the plain loops",
    "needed": "how many trials the search needed until it had a schedule that takes at most 1.1 "
    "times as long as the fastest",
    "tiles": "the factors of each SamplePerfectTile, in the order of the trace",
    "unroll": "the number that was sampled for `meta_schedule.unroll_explicit`",
    "jobs": "how many iterations the parallel and the vectorized loop of the tiled nest have; 1 "
    "where there is none",
    "lanes": "how many iterations the parallel and the vectorized loop of the tiled nest have; 1 "
    "where there is none",
}  # fmt: skip
ALL = ["Read from a log of MetaSchedule what its fastest schedule decided", SEVEN,
       *dict.fromkeys(ENTRIES.values()), "The tiled nest is the one that Reorder orders",
       "A trial of None seconds failed; it counts as a trial and never wins"]  # fmt: skip

background(NAME, "as `LOGS` has them", because="what the argument is")
background(NAME, "In every log, at least one trial did not fail", because="what the logs are like")


@st.composite
def logs(draw: st.DrawFn, most: int = 4) -> tuple[dict[str, Any], dict[str, Any]]:
    """A log, and what its winner decided. Many times are equal, or a tenth apart."""
    rng = random.Random(draw(st.integers(0, 1 << 30)))
    seconds = [rng.choice([None, 1e-3, 1.05e-3, 1.2e-3, 5e-4, 5.4e-4, 2e-4, 2.3e-4])
               for _ in range(rng.randint(1, most))]  # fmt: skip
    if not any(seconds):
        seconds[-1] = 3e-4
    traces = [Trace(rng) for _ in seconds]
    best = min(s for s in seconds if s)
    at = seconds.index(best)
    plain = rng.choice([1e-3, 4e-3, 1e-4])
    near = next(k for k, s in enumerate(seconds, 1) if s and s <= 1.1 * best)
    trials = [{"trace": [one.instructions, one.decisions], "seconds": s}
              for one, s in zip(traces, seconds, strict=True)]  # fmt: skip
    due = {"trial": at + 1, "ratio": plain / best, "needed": near, **traces[at].due}
    return {"sizes": [8], "plain": plain, "trials": trials, "loops": ""}, due


def as_due(got: Any, due: Mapping[str, Any], shown: str) -> None:
    """Wrong unless the answer has these entries."""
    if not isinstance(got, Mapping) or set(got) != set(ENTRIES):
        raise Wrong("The answer must be a dict with the seven entries.", program=shown,
                    got=returned(got), expected=", ".join(ENTRIES), spec=SEVEN)  # fmt: skip
    for key, right in due.items():
        mine = got[key]
        try:
            same = (
                [[int(n) for n in row] for row in mine] == right
                if key == "tiles"
                else math.isclose(float(mine), right, rel_tol=1e-6)
            )
        except (TypeError, ValueError):
            same = False
        if not same:
            raise Wrong(f'"{key}" is not right.', program=shown, got=returned(mine),
                        expected=str(right), spec=ENTRIES[key])  # fmt: skip


def told(log: Mapping[str, Any]) -> str:
    """The log as a card shows it: the seconds, and one trace."""
    seconds = [one["seconds"] for one in log["trials"]]
    best = seconds.index(min(s for s in seconds if s is not None))
    instructions, decisions = log["trials"][best]["trace"]
    return "\n".join([f"plain {log['plain']}, trials {seconds}; trace of trial {best + 1}:",
                      *map(json.dumps, instructions), f"decisions {decisions}"])  # fmt: skip


@checks(NAME, given=logs(), examples=50, what="made-up logs", spec=ALL)
def what_the_fastest_decided(winner, given):
    """Traces with several nests, parallel or not, and trials that failed or are equally fast."""
    log, due = given
    as_due(winner(log), due, told(log))


@checks(NAME, spec=ALL[:2])
def the_recorded_logs_as_tvm_prints_their_loops(winner):
    """The three recorded logs, beside the loops that TVM printed for the fastest schedule."""
    for name, log in LOGS.items():
        agrees(winner(log), log, name)
    return f"{', '.join(LOGS)}"


def agrees(got: Any, log: Mapping[str, Any], name: str) -> None:
    """Wrong unless what was found is in the loops of the fastest schedule."""
    seconds = [one["seconds"] or math.inf for one in log["trials"]]
    due: dict[str, Any] = {"trial": seconds.index(min(seconds)) + 1}
    first = re.search(r"T\.(\w+)\((\d+), annotations.*?_step\": (\d+)", log["loops"])
    if first:
        jobs = int(first[2]) if first[1] == "parallel" else 1
        due |= {"jobs": jobs, "unroll": int(first[3])}
    as_due(got, due, f"the log of {name}, whose fastest schedule is\n{log['loops']}")
