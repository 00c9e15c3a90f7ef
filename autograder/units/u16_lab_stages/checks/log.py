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
from lessons.u16_lab_stages.logs import LOGS

NAME = "u16_lab_stages.winner"
SEVEN = "the seven entries below, by name"
ENTRIES = {
    "trial": "its number, from 1; of equally fast ones the first",
    "ratio": "how many times as fast it is as the plain loops",
    "needed": "how many trials the search needed for a schedule that takes at most 1.1 times as "
    "long as the fastest",
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
background(NAME, "At least one trial of a log did not fail", because="what the logs are like")


class Trace:
    """A trace in the making, and what it decides."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.count = rng, 0
        self.instructions: list[list[Any]] = []
        self.decisions: list[list[Any]] = []
        self.add("GetSBlock", [], ["y", "main"], ["b0"])
        spatial, sums = rng.randint(1, 3), rng.randint(0, 2)
        loops = self.names("l", spatial + sums)
        self.add("GetLoops", ["b0"], [], loops)
        tiles = [self.tile(loop, 4 if k < spatial else 2) for k, loop in enumerate(loops)]
        s, r = tiles[:spatial], tiles[spatial:]
        nest = [t[0] for t in s] + [t[1] for t in s] + [t[0] for t in r] + [t[2] for t in s]
        nest += [t[1] for t in r] + [t[3] for t in s]
        self.add("Reorder", [x for x, _ in nest], [], [])
        self.due = {"tiles": [[n for _, n in t] for t in tiles], "unroll": self.choices(),
                    "jobs": 1, "lanes": 1}  # fmt: skip
        self.add("EnterPostproc", [], [], [])
        extents = [n for _, n in nest]
        nests = [None] * rng.randint(0, 2)
        for one in rng.sample([extents, *nests], 1 + len(nests)):
            self.marked(one)

    def names(self, letter: str, count: int) -> list[str]:
        self.count += count
        return [f"{letter}{k}" for k in range(self.count - count, self.count)]

    def add(self, *instruction: Any) -> int:
        self.instructions.append([*instruction])
        return len(self.instructions) - 1

    def tile(self, loop: str, parts: int) -> list[tuple[str, int]]:
        factors = [self.rng.choice([1, 1, 2, 3, 4, 8]) for _ in range(parts)]
        names, loops = self.names("v", parts), self.names("l", parts)
        place = self.add("SamplePerfectTile", [loop], [parts, 64], names)
        self.decisions.append([place, factors])
        self.add("Split", [loop, *names], [True, False], loops)
        return [*zip(loops, factors, strict=True)]

    def choices(self) -> int:
        """Categories, of which one is for unrolling."""
        unroll = 0
        kinds = ["meta_schedule.unroll_explicit", "meta_schedule.something_else"]
        kinds = kinds[:1] if self.rng.random() < 0.6 else self.rng.sample(kinds, 2)
        for kind in kinds:
            limit = self.rng.choice([8, 32, 64])
            self.add("Annotate", ["b1", limit], ["meta_schedule.parallel"], [])
            candidates, (name,) = self.rng.sample([0, 16, 64, 512, 7], 4), self.names("v", 1)
            place = self.add("SampleCategorical", [], [candidates, [0.25] * 4], [name])
            chosen = self.rng.randrange(4)
            self.decisions.append([place, chosen])
            self.add("Annotate", ["b1", name], [kind], [])
            unroll = candidates[chosen] if kind.endswith("explicit") else unroll
        (loop,) = self.names("l", 1)
        self.decisions.append([self.add("SampleComputeLocation", ["b0"], [], [loop]), -1])
        return unroll

    def marked(self, extents: list[int] | None) -> None:
        """A nest whose outer loops become parallel and whose last one a vector, or neither; None
        for a nest that is not the tiled one."""
        loops = self.names("l", len(extents) if extents else 3)
        self.add("GetLoops", [f"b{self.rng.randint(2, 9)}"], [], loops)
        for kind, key in (("Parallel", "jobs"), ("Vectorize", "lanes")):
            if self.rng.random() < 0.75:
                some = loops[: self.rng.randint(1, 3)] if key == "jobs" else loops[-1:]
                (fused,) = self.names("l", 1)
                self.add("Fuse", some, [1], [fused])
                self.add(kind, [fused], [], [])
                if extents:
                    part = extents[: len(some)] if key == "jobs" else extents[-1:]
                    self.due[key] = math.prod(part)
                self.add("Annotate", [fused, 16], ["pragma_auto_unroll_max_step"], [])


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
    """The three recorded logs, beside the loops that TVM printed of the fastest schedule."""
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
