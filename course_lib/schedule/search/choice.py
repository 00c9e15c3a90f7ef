"""What a search chose instead of the default, for a kernel or for a graph.

    KERNELS.to_json(Choice(parse_schedule("split(n, 32)"), measured=(3e-6, 2e-6)))
    {"schedule": ["split(n, 32)"], "measured": [3e-6, 2e-6], ...}

    schedule      of a kernel
    groups        of a graph: which of its nodes share a kernel (`passes/fusion/regroup.py`)
    convolutions  of a graph: which of them Winograd computes (`passes/layout/winograd.py`)

Next room: `tuned.py`, the file that has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from course_lib.passes.fusion.regroup import Grouping
from course_lib.schedule.script import Schedule, parse_schedule

Value = TypeVar("Value")
Names = tuple[str, ...]  # of nodes, as their graph is printed
Pair = tuple[float | None, float | None]


@dataclass(frozen=True)
class Choice(Generic[Value]):
    """What a search chose instead of the default, for a kernel or a graph.

    value      None: nothing that is faster than the default by more than the noise
    predicted  seconds with the default and with the choice, by the cost model
    measured   the same by the clock
    tried      how many candidates were priced or measured
    why        in words, where the default stays
    name       of the kernel, for those who read the file
    """

    value: Value | None
    predicted: Pair = (None, None)
    measured: Pair = (None, None)
    tried: int = 0
    why: str = ""
    name: str = ""

    @property
    def gain(self) -> float:
        """How many times as fast as with the default it is."""
        before, after = self.measured
        return before / after if self.value is not None and before and after else 1.0


@dataclass(frozen=True)
class Kind(Generic[Value]):
    """How the choices of one kind are written: their value under `name`, as `written` says."""

    name: str
    written: Callable[[Value], list[Any]]
    parsed: Callable[[list[Any]], Value]

    def to_json(self, choice: Choice[Value]) -> dict[str, Any]:
        value = None if choice.value is None else self.written(choice.value)
        numbers = {"predicted": list(choice.predicted), "measured": list(choice.measured)}
        notes = {"tried": choice.tried, "why": choice.why, "name": choice.name}
        return {self.name: value, **numbers, **notes}

    def from_json(self, data: Mapping[str, Any]) -> Choice[Value]:
        value = data[self.name]
        return Choice(
            None if value is None else self.parsed(value),
            _pair(data["predicted"]),
            _pair(data["measured"]),
            int(data["tried"]),
            str(data["why"]),
            str(data.get("name", "")),
        )


KERNELS = Kind[Schedule](
    "schedule", lambda value: str(value).splitlines(), lambda data: parse_schedule("\n".join(data))
)
GROUPS = Kind[Grouping](
    "groups", lambda value: [list(one) for one in value], lambda data: tuple(map(_names, data))
)
CONVOLUTIONS = Kind[Names]("winograd", list, lambda data: _names(data))


def _names(data: Any) -> Names:
    return tuple(map(str, data))


def _pair(values: Any) -> Pair:
    first, second = (None if v is None else float(v) for v in values)
    return first, second
