"""Reading course.toml: a mistake is an error that names the line and the key.

    course.toml, line 7, late.percent_per_dya: nobody reads this key; did you mean percent_per_day?

Next room: course.py, what the keys mean; roster.py, the people.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, tzinfo
from pathlib import Path
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

from autograder.check.keys import KEY, is_lab
from autograder.grading.book.course import Course, Extension, Late, Unit

UNIT_KEYS = ("release", "due", "solutions", "late", "canvas", "moodle", "groups")
KEYS = (
    "name", "time_zone", "roster", "secret", "seeds", "times", "nothing_handed_in", "late",
    "extensions", "hand_ins", "minutes",
)  # fmt: skip


def read_course(path: Path | None, units: Iterable[str]) -> Course:
    """The course file; without one, a course that decides nothing.

    `units` are the keys of the units and labs that exist. Raises ValueError with line and key of
    the first mistake.
    """
    if path is None:
        return Course()
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name}: {error}") from None
    return _Reader(path, text, content, tuple(units)).course()


@dataclass
class _Reader:
    path: Path
    text: str
    content: dict[str, Any]
    known: tuple[str, ...]
    zone: tzinfo = UTC

    def course(self) -> Course:
        top = self.content
        self._only(top, (), KEYS, lambda key: KEY.fullmatch(key) is not None)
        self.zone = self._zone()
        late = self._late(top.get("late", {}), ("late",), Late())
        roster = self._text(top, (), "roster")
        zero = self._one_of(top, (), "nothing_handed_in", ("blank", "zero")) == "zero"
        return Course(
            self._text(top, (), "name"),
            self.zone,
            self.path.parent / roster if roster else None,
            self._text(top, (), "secret"),
            self._one_of(top, (), "seeds", ("class", "student")),
            self._text(top, (), "times") or "file",
            zero,
            self._units(late),
            self._extensions(),
            self._hand_ins(),
            self.path.parent,
            self._yes_or_no(top, "minutes"),
        )

    def _units(self, late: Late) -> dict[str, Unit]:
        units = {}
        for name in filter(KEY.fullmatch, self.content):
            where, key = (name,), self._key(name, (name,))
            table = self._table(self.content[name], where)
            self._only(table, where, UNIT_KEYS)
            release = self._moment(table, where, "release", end=False)
            due = self._moment(table, where, "due", end=True)
            solutions = self._moment(table, where, "solutions", end=False)
            mine = self._late(table.get("late", {}), (*where, "late"), late)
            names = [self._text(table, where, key) for key in ("canvas", "moodle")]
            together = self._yes_or_no(table, "groups", where)
            units[key] = unit = Unit(release, due, solutions, mine, names[0], names[1], together)
            if unit.release and unit.due and unit.due <= unit.release:
                self._fail((*where, "due"), "it is due before it is released")
            if unit.due and unit.solutions and unit.solutions < unit.due:
                self._fail((*where, "solutions"), "the solutions are out before it is due")
        return units

    def _extensions(self) -> dict[str, Extension]:
        extensions = {}
        for student, value in self._table(
            self.content.get("extensions", {}), ("extensions",)
        ).items():
            where = ("extensions", student)
            table = self._table(value, where)
            self._only(table, where, ("days",), lambda key: KEY.fullmatch(key) is not None)
            units = [key for key in table if key != "days"]
            own = {
                self._key(u, (*where, u)): self._moment(table, where, u, end=True) for u in units
            }
            days = self._number(table, where, "days", 0)
            extensions[student] = Extension({n: d for n, d in own.items() if d}, days or 0)
        return extensions

    def _hand_ins(self) -> dict[str, str]:
        table = self._table(self.content.get("hand_ins", {}), ("hand_ins",))
        return {key: self._text(table, ("hand_ins",), key) for key in table}

    def _late(self, value: Any, where: tuple[str, ...], default: Late) -> Late:
        table = self._table(value, where)
        names = [f.name for f in fields(Late)]
        self._only(table, where, names)
        numbers: dict[str, Any] = {
            n: self._number(table, where, n, getattr(default, n)) for n in names
        }
        late = Late(**numbers)
        for key in ("percent_per_day", "at_most_percent"):
            if getattr(late, key) > 100:
                self._fail((*where, key), f"{getattr(late, key):g} is more than 100 percent")
        return late

    def _key(self, name: str, where: tuple[str, ...]) -> str:
        if name not in self.known:
            what = "lab" if is_lab(name) else "unit"
            self._fail(where, f"there is no {what} {name}; there are {', '.join(self.known)}")
        return name

    def _zone(self) -> tzinfo:
        name = self._text(self.content, (), "time_zone")
        try:
            return ZoneInfo(name) if name else UTC
        except (KeyError, ValueError, OSError):
            self._fail(("time_zone",), f"no zone is called {name!r}; one is Europe/Berlin")

    def _moment(
        self, table: dict[str, Any], where: tuple[str, ...], key: str, *, end: bool
    ) -> datetime | None:
        """A date and time in the course's zone; a date alone is its first or its last minute."""
        value = table.get(key)
        if value is None:
            return None
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=self.zone)
        if isinstance(value, date):
            return datetime.combine(value, time(23, 59, 59) if end else time(), self.zone)
        self._fail((*where, key), f"{value!r} is no date; write 2026-10-19 or 2026-10-19T18:00:00")

    def _text(self, table: dict[str, Any], where: tuple[str, ...], key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            self._fail((*where, key), f"{value!r} is no text; put it in quotes")
        return value

    def _number(
        self, table: dict[str, Any], where: tuple[str, ...], key: str, default: float | None
    ) -> float | None:
        value = table.get(key, default)
        if value is default:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            self._fail((*where, key), f"{value!r} is no number from 0 on")
        return value

    def _one_of(
        self, table: dict[str, Any], where: tuple[str, ...], key: str, choices: tuple[str, ...]
    ) -> str:
        value = table.get(key, choices[0])
        if value not in choices:
            self._fail((*where, key), f"it is one of {', '.join(choices)}, not {value!r}")
        return value

    def _yes_or_no(self, table: dict[str, Any], key: str, where: tuple[str, ...] = ()) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            self._fail((*where, key), f"{value!r} is neither true nor false")
        return value

    def _table(self, value: Any, where: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail(where, f"{value!r} is no table; write [{'.'.join(where)}] above its keys")
        return value

    def _only(
        self,
        table: dict[str, Any],
        where: tuple[str, ...],
        keys: Any,
        other: Callable[[str], bool] = lambda key: False,
    ) -> None:
        for key in table:
            if key not in keys and not other(key):
                near = difflib.get_close_matches(key, keys, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(keys)}"
                self._fail((*where, key), f"nobody reads this key; {hint}")

    def _fail(self, where: tuple[str, ...], problem: str) -> NoReturn:
        line = line_of(self.text, where)
        place = f"line {line}, " if line else ""
        raise ValueError(f"{self.path.name}, {place}{'.'.join(where)}: {problem}")


def line_of(text: str, where: tuple[str, ...]) -> int | None:
    """The line of a key in a TOML text, from 1; of its table where the key stands inline."""
    section: tuple[str, ...] = ()
    best = None
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[([^\[\]]+)\]", line):
            section = _names(head[1])
            here = section
        elif key := re.match(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*[\w-]+)*)\s*=""", line):
            here = section + _names(key[1])
        else:
            continue
        if here == where:
            return number
        if where[: len(here)] == here:
            best = number
    return best


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(a or b or c for a, b, c in re.findall(r"""([\w-]+)|"([^"]*)"|'([^']*)'""", dotted))
