"""What one submission may use, and what it has used so far.

A limit counts the process's own time: what it computes, which the kernel says, and what it sleeps.
How long it waits for a processor, on a machine with other work, does not count; nor what crosses
the pipe: so an answer that calls the check's functions for ever is ended by their number. All that
one submission uses together is in its `Budget`.

Next room: sandbox.py, where it is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.check.framework import TimedOut


@dataclass(frozen=True)
class Limits:
    """Seconds of the process's own time, and numbers. They guard against answers that do not end;
    nothing is graded by time. From `cells` on they are for the whole submission."""

    start: float = 60.0
    cell: float = 10.0
    call: float = 10.0
    ahead: float = 3.0  # calls that are made together; beyond it they are made one at a time
    callbacks: int = 100_000  # how often one call may call the functions that it was given
    exercise: float = 60.0
    cells: float = 120.0  # all cells together, those that end the process with those before them
    total: float = 600.0
    checking: float = 600.0  # what the checks themselves compute
    starts: int = 60  # processes
    received: int = 1 << 30  # bytes


class Overrun(TimedOut):
    """The submission has used up what it may use in all."""


@dataclass
class Budget:
    """What one submission has used so far, in all of its processes."""

    limits: Limits = field(default_factory=Limits)
    seconds: float = 0.0
    starts: int = 0
    received: int = 0
    by_wall: bool = False  # something ended that perhaps only waited for a processor

    def start(self) -> None:
        self.starts += 1
        if self.starts > self.limits.starts:
            raise Overrun(
                f"The process that runs this notebook ended {self.limits.starts} times; "
                "it is not started again."
            )
        self.spend(0.0)

    def spend(self, seconds: float) -> None:
        self.seconds += seconds
        if self.seconds > self.limits.total:
            total = f"{self.limits.total:g} seconds"
            raise Overrun(f"All cells and answers of this notebook together took over {total}.")

    def receive(self, size: int) -> None:
        self.received += size
        if self.received > self.limits.received:
            raise Overrun(
                f"The answers of this notebook returned over {self.limits.received >> 20} MB."
            )
