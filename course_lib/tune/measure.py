"""How long kernels take, measured in another process, which a bad candidate may take down.

    with Measuring() as measure:
        beam(problem, Budget(measured=30), predict, measure)
        measure([kernel, other], machine)      ->  [Timing(0.0012), Timing(None, "hangs: ...")]

The process is started once and gets kernels as text. Those of one call run in turns on random
operands, so only their ratios are of use, and only within one call. A kernel that crashes the
process, or from which nothing is heard for too long, gets a reason in the place of a time; the
others are measured again in a new process. Next room: `child.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from course_lib.cost.machine import Machine
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.measure.apart import Apart, Ended
from course_lib.schedule.search.problem import Timing

WAITING = 10  # times as many seconds by the clock, on a busy machine


@dataclass(frozen=True)
class Ask:
    """How to measure.

    seconds    for each kernel, dealt out over `rounds`
    apart      bytes of constants that shall lie apart: as many as all kernels of the model have
    constants  which operands are constants
    limit      seconds of processor time without a word, after which a kernel hangs
    memory     bytes of addresses that the process may have
    """

    seconds: float = 0.05
    rounds: int = 12
    apart: int = 0
    constants: tuple[str, ...] = ()
    limit: float = 20.0
    memory: int = 16 << 30


class Measuring:
    """`measure(kernels, machine)`, for a search. `jobs` processes share the kernels out: more than
    one at a time disturb each other, unless they have processors of their own."""

    def __init__(self, ask: Ask | None = None, jobs: int = 1) -> None:
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        self.ask = ask or Ask()
        self.workers = [Worker() for _ in range(jobs)]

    def __call__(
        self, kernels: Sequence[Kernel], machine: Machine, ask: Ask | None = None
    ) -> list[Timing]:
        """A `Timing` for each kernel. Every process measures the first one as well, and what it
        says of others is scaled by that."""
        asked, texts = ask or self.ask, [print_kernel(kernel) for kernel in kernels]
        parts = dealt(texts, len(self.workers))
        if len(parts) == 1:
            return self.workers[0].timings(texts, machine.threads, asked)
        with ThreadPoolExecutor(len(parts)) as pool:
            jobs = zip(self.workers, parts, strict=False)
            timings = list(pool.map(lambda j: j[0].timings(j[1], machine.threads, asked), jobs))
        return gathered(timings)

    def close(self) -> None:
        for worker in self.workers:
            worker.stop()

    def __enter__(self) -> Measuring:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def dealt(texts: Sequence[str], count: int) -> list[list[str]]:
    """The first one in every part, the others dealt out."""
    first, others = texts[:1], texts[1:]
    count = max(min(count, len(others)), 1)
    return [[*first, *others[number::count]] for number in range(count)]


def gathered(parts: Sequence[Sequence[Timing]]) -> list[Timing]:
    """The inverse for timings: relative to the first kernel, as the first part has it."""
    first = parts[0][0]
    timings: list[Timing] = [first, *[first] * sum(len(part) - 1 for part in parts)]
    for number, part in enumerate(parts):
        scale = first.seconds / part[0].seconds if first.seconds and part[0].seconds else 1.0
        timings[1 + number :: len(parts)] = [timing.times(scale) for timing in part[1:]]
    return timings


class Failed(Exception):
    """A kernel cannot be measured."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at, self.why = at, why


class Worker(Apart):
    """One process that measures."""

    def __init__(self) -> None:
        super().__init__("course_lib.tune.child")

    def timings(self, texts: Sequence[str], threads: int, ask: Ask) -> list[Timing]:
        """A timing for each kernel; those that cannot be measured do not spoil the others."""
        timings: dict[int, Timing] = {}
        left = list(range(len(texts)))
        while left:
            try:
                rounds = self._asked([texts[number] for number in left], threads, ask)
            except Failed as failed:
                self.stop()
                timings[left.pop(failed.at)] = Timing(None, failed.why)
                continue
            except BaseException:  # Ctrl-C: nobody waits for the answer any more
                self.stop()
                raise
            for number, seconds in zip(left, rounds, strict=True):
                timings[number] = Timing.of(seconds)
            break
        return [timings[number] for number in range(len(texts))]

    def _asked(self, texts: Sequence[str], threads: int, ask: Ask) -> list[list[float]]:
        request = {"kernels": texts, "threads": threads, "constants": ask.constants,
                   "seconds": ask.seconds, "rounds": ask.rounds, "apart": ask.apart,
                   "memory": ask.memory, "limit": ask.limit}  # fmt: skip
        at = 0
        try:
            for message in self.ask(request, WAITING * ask.limit):
                if "timings" in message:
                    return message["timings"]
                if "failed" in message:
                    raise Failed(at, f"failed: {message['failed']}")
                at = message["at"]
        except Ended as ended:
            raise Failed(at, str(ended)) from None
        raise AssertionError("it answers or ends")
