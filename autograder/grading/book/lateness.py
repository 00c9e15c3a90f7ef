"""When something was handed in, and what it loses by that.

    due 19 Oct 23:59, handed in 21 Oct 08:00, 10 % a day   ->   2 days late, 20 % of the points

A day late is a day on the calendar's clock of the course's zone: due at 18:00, a day ends at 18:00
the next day, also where a night had 25 hours. The grace decides only whether it is late at all.

A file's time is what the disk says, often the moment of the download: `times` in course.toml names
a better source. nbgrader writes a timestamp.txt beside what it collects. A CSV with the columns
student and time (and assignment, if it is for several) is believed before everything else; Moodle's
grading worksheet is one: its columns are called Email address and Last modified (submission).

Next room: entries.py, where this becomes a line of the grade book.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from autograder.check.keys import key_in
from autograder.grading.book.course import Course, Late
from autograder.grading.book.tables import Row, read_table

STUDENT = ("student", "id", "email address", "email", "username", "id number")
TIME = ("time", "submitted", "last modified (submission)")
FORMATS = (
    "%A, %d %B %Y, %I:%M %p",  # Moodle in English: Monday, 19 October 2026, 11:30 PM
    "%A, %d %B %Y, %H:%M",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
)


@dataclass(frozen=True)
class Lateness:
    """How late, in days begun, and the share of the points that is lost, from 0 to 1."""

    days: int
    share: float

    @property
    def words(self) -> str:
        days = "1 day" if self.days == 1 else f"{self.days} days"
        return f"{days} late: {100 * self.share:g} % of the points"


def lateness(
    submitted: datetime | None, due: datetime | None, rule: Late, zone: tzinfo
) -> Lateness | None:
    """None if it is in time, or nobody knows when it came, or nothing is due."""
    if submitted is None or due is None:
        return None
    if submitted <= due + timedelta(minutes=rule.grace_minutes):
        return None
    clock = submitted.astimezone(zone).replace(tzinfo=None) - due.astimezone(zone).replace(
        tzinfo=None
    )
    days = max(1, math.ceil(clock / timedelta(days=1)))
    if rule.cut_off_days is not None and days > rule.cut_off_days:
        return Lateness(days, 1.0)
    return Lateness(days, min(days * rule.percent_per_day, rule.at_most_percent) / 100)


class Times:
    """When things were handed in, from the source that the course names."""

    def __init__(self, course: Course, submissions: Path):
        self.course, self.submissions = course, submissions
        self.listed: dict[tuple[str, str], datetime | None] = {}
        if course.times not in ("file", "nbgrader"):
            self._read(course.folder / course.times)

    def of(
        self, names: list[str], outer: str, assignment: str, of_file: datetime | None
    ) -> tuple[datetime | None, str]:
        """(when, from where). `names` are what the student is called: id, email, ..."""
        for name in names:
            for unit in (assignment, key_in(assignment), ""):
                if (name.casefold(), unit) in self.listed:
                    return self.listed[name.casefold(), unit], self.course.times
        if self.course.times == "nbgrader":
            stamp = self.submissions / outer / assignment / "timestamp.txt"
            if stamp.is_file() and not stamp.is_symlink():
                text = stamp.read_text(encoding="utf-8", errors="replace")[:100]
                return moment(text, self.course.zone), "timestamp.txt"
        if of_file is not None and of_file.tzinfo is None:
            of_file = of_file.replace(tzinfo=self.course.zone)
        return of_file, "the file's time" if of_file else ""

    def _read(self, path: Path) -> None:
        rows = read_table(path)
        for row in rows:
            student = _cell(path, row, STUDENT)
            text = _cell(path, row, TIME)
            unit = row.get("assignment", "") or row.get("unit", "")
            try:
                when = moment(text, self.course.zone)
            except ValueError as error:
                raise ValueError(f"{path.name}, line {row.line}: {error}") from None
            self.listed[student.casefold(), unit] = when


def moment(text: str, zone: tzinfo) -> datetime | None:
    """A date and time as people and systems write it; None for "" and "-".

    Without a zone it is in `zone`. Raises ValueError for what is none of the known ways.
    """
    text = text.strip()
    if text in ("", "-"):
        return None
    plain = re.sub(r"\s*(UTC|GMT)$", "+00:00", text)
    plain = re.sub(r"\.(\d{6})\d+", r".\1", plain)
    try:
        time = datetime.fromisoformat(plain)
        return time if time.tzinfo else time.replace(tzinfo=zone)
    except ValueError:
        pass
    for form in FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=zone)
        except ValueError:
            continue
    raise ValueError(f"{text!r} is no time that can be read; write 2026-10-19 18:00")


def download_warning(times: list[datetime]) -> str:
    """A word if the files' times look like one download: all of them within two minutes."""
    if len(times) < 5:
        return ""
    known = [t.astimezone(UTC) for t in times]
    if max(known) - min(known) > timedelta(minutes=2):
        return ""
    return (
        "All files were changed within two minutes: this is probably the time of the download. "
        "Name a better source under `times` in course.toml."
    )


def _cell(path: Path, row: Row, names: tuple[str, ...]) -> str:
    for name in names:
        if name in row:
            return row[name]
    raise ValueError(f"{path.name} has no column {names[0]!r}; its columns are: {', '.join(row)}")
