"""Traces of schedules as TVM's MetaSchedule writes them, made up, and what they decide.

    one = Trace(random.Random(0))
    one.instructions, one.decisions       the two lists of a trace
    one.due                               {"tiles": [[2, 1, 4, 8], ...], "jobs": 2, "lanes": 8, ...}

Next room: properties.py.
"""

from __future__ import annotations

import math
import random
from typing import Any


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
        for mark in ("parallel", "unroll_explicit"):
            self.add("Unannotate", ["b1"], [f"meta_schedule.{mark}"], [])
        extents = [n for _, n in nest]
        nests = [None] * rng.randint(0, 2)
        for one in rng.sample([extents, *nests], 1 + len(nests)):
            self.marked(one)
        self.add("DecomposeReduction", ["b0", loops[0]], [], ["b10"])

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
        """A nest whose outer loops become parallel and whose last ones a vector, or neither; None
        for a nest that is not the tiled one."""
        loops = self.names("l", len(extents) if extents else 3)
        self.add("GetLoops", [f"b{self.rng.randint(2, 9)}"], [], loops)
        if not extents and self.rng.random() < 0.3:
            self.split(loops)
            return
        for kind, key in (("Parallel", "jobs"), ("Vectorize", "lanes")):
            if self.rng.random() < 0.75:
                count = self.rng.randint(1, len(loops) - 2 if key == "jobs" else 2)
                part = slice(count) if key == "jobs" else slice(-count, None)
                (fused,) = self.names("l", 1)
                self.add("Fuse", loops[part], [1], [fused])
                self.add(kind, [fused], [], [])
                if extents:
                    self.due[key] = math.prod(extents[part])
                self.add("Annotate", [fused, 16], ["pragma_auto_unroll_max_step"], [])

    def split(self, loops: list[str]) -> None:
        """All loops as one, which is split by a number."""
        fused, outer, inner = self.names("l", 3)
        self.add("Fuse", loops, [1], [fused])
        self.add("Split", [fused, "None", 64], [True, False], [outer, inner])
        self.add("Parallel", [outer], [], [])
        self.add("Vectorize", [inner], [], [])


def log(rng: random.Random, most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A log of trials, and what its winner decided. Many times are equal, or a tenth apart."""
    seconds = [rng.choice([None, 1e-3, 1.05e-3, 1.2e-3, 5e-4, 5.45e-4, 2e-4, 2.23e-4])
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
