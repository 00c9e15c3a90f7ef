"""course.toml: what a teacher decides. Every key may be left out, and so may the file.

    name = "Machine-learning compilers, autumn 2026"
    time_zone = "Europe/Berlin"
    roster = "roster.csv"             # beside this file; see roster.py
    secret = "forty two grey llamas"  # random programs are drawn from it; keep it to yourself
    seeds = "class"                   # or "student": everybody has other random programs
    times = "file"                    # or "nbgrader", or a CSV with student, time (, assignment)
    nothing_handed_in = "blank"       # in exports; or "zero"
    minutes = true                    # the class hands in the minutes that it measured itself

    [late]                            # see lateness.py
    grace_minutes = 15
    percent_per_day = 10              # of the points earned, for each day begun
    at_most_percent = 50
    cut_off_days = 7                  # after that, nothing is left

    [u02]                             # a unit, or a lab: [u07_lab_matmul]
    release = 2026-10-05              # a date alone: from its first minute
    due = 2026-10-19                  # a date alone: until its last minute
    solutions = 2026-10-27T08:00:00
    late = { cut_off_days = 0 }       # here nothing counts that comes after it is due
    canvas = "Rewrites (1234)"        # the column's name there, if it has one
    moodle = "Assignment: Rewrites (Real)"
    groups = true                     # handed in by groups: the roster's column; see groups.py

    [extensions.ada]                  # the student's id
    u02 = 2026-10-26                  # due then
    days = 2                          # so much later in every unit and lab

    [hand_ins]                        # whose a file is where its name does not tell
    "homework final.ipynb" = "ada"

Next room: course_file.py, which reads it; lateness.py, what a late answer loses.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path


@dataclass(frozen=True)
class Late:
    """What being late costs. The percentages are of the points earned."""

    grace_minutes: float = 0
    percent_per_day: float = 0
    at_most_percent: float = 100
    cut_off_days: float | None = None


@dataclass(frozen=True)
class Unit:
    """The dates of one unit or lab, with their zone, and its names elsewhere."""

    release: datetime | None = None
    due: datetime | None = None
    solutions: datetime | None = None
    late: Late = Late()
    canvas: str = ""
    moodle: str = ""
    groups: bool = False  # what one of a group hands in is everybody's


@dataclass(frozen=True)
class Extension:
    """One student's own due dates, by key, and days that they have more in every unit and lab."""

    due: dict[str, datetime] = field(default_factory=dict)
    days: float = 0


@dataclass(frozen=True)
class Course:
    name: str = ""
    zone: tzinfo = UTC
    roster: Path | None = None
    secret: str = ""
    seeds: str = "class"
    times: str = "file"
    zero: bool = False  # nothing handed in is exported as 0
    units: dict[str, Unit] = field(default_factory=dict)
    extensions: dict[str, Extension] = field(default_factory=dict)
    hand_ins: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()
    minutes: bool = False  # measured ones are asked for and shown

    def due(self, key: str, student: str) -> datetime | None:
        """When this student has to hand in this unit or lab."""
        common = self.units.get(key, Unit()).due
        own = self.extensions.get(student, Extension())
        if key in own.due:
            return own.due[key]
        return common + timedelta(days=own.days) if common else None

    def seed(self, student: str) -> int:
        """The seed of a student's random programs: from the secret alone, or with the id.

        Without a secret it is 0. The same secret and id always give the same seed.
        """
        if not self.secret:
            return 0
        what = student if self.seeds == "student" else ""
        digest = hmac.new(self.secret.encode(), what.encode("utf-8", "replace"), hashlib.sha256)
        return int.from_bytes(digest.digest()[:4], "big") >> 1
