"""Visible checks of unit 4 for lives and addresses: liveness, assign_offsets.

Lives are compared with what each sentence of the specification says; a plan passes if no two living
values share a byte, and its points depend on how large the arena is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Score, Wrong, background, checks
from autograder.units.u04.answers.lives import LIVES, random_lives
from autograder.units.u04.checks.shared import (
    Run,
    arena,
    lives,
    runs,
    sequence_of,
    small_programs,
    told_plan,
    told_run,
    whole,
)
from course_lib.ir.loops.program import owner
from course_lib.memory.liveness import ALIGNMENT, Interval, Task
from course_lib.memory.offsets import lower_bound

# ── schedule.memory.liveness ──

# One small run for each sentence of the specification: (words, run, lives).
CASES: list[tuple[str, Run, list[Interval]]] = [
    (
        "from the task that writes it to the last task that reads it, both included",
        (
            [Task("a", ("x",), 64), Task("b", ("a",), 128), Task("c", ("b", "a"), 64),
             Task("y", ("c",), 64)],
            {},
            {"x", "y"},
        ),
        [Interval("a", 64, 0, 2), Interval("b", 128, 1, 2), Interval("c", 64, 2, 3)],
    ),
    (
        "that nobody reads is alive while it is written",
        ([Task("a", ("x",), 64), Task("b", ("x",), 64), Task("y", ("b",), 64)], {}, {"x", "y"}),
        [Interval("a", 64, 0, 0), Interval("b", 64, 1, 2)],
    ),
    (
        "the owner lives as long as any view of it is used",
        (
            [Task("a", ("x",), 64), Task("b", ("x",), 64), Task("c", ("b",), 64),
             Task("y", ("w", "c"), 64)],
            {"v": "a", "w": "v"},
            {"x", "y"},
        ),
        [Interval("a", 64, 0, 3), Interval("b", 64, 1, 2), Interval("c", 64, 2, 3)],
    ),
    (
        "A view has no bytes: to read or write it is to read or write its owner",
        (
            [Task("a", ("x",), 128), Task("b", ("a",), 128), Task("c", ("b",), 128),
             Task("y", ("c",), 64)],
            {"b": "a"},
            {"x", "y"},
        ),
        [Interval("a", 128, 0, 2), Interval("c", 128, 2, 3)],
    ),
    (
        "to read or write it is to read or write its owner",
        (
            [Task("a", ("x",), 128), Task("c", ("x",), 64), Task("b", ("x",), 128),
             Task("y", ("c",), 64)],
            {"b": "a"},
            {"x", "y"},
        ),
        [Interval("a", 128, 0, 2), Interval("c", 64, 1, 3)],
    ),
    (
        "`size` is that of the task that writes the owner itself",
        (
            [Task("a", ("x",), 192), Task("b", ("a",), 64), Task("y", ("b",), 64)],
            {"b": "a"},
            {"x", "y"},
        ),
        [Interval("a", 192, 0, 2)],
    ),
    (
        "A value is left out if no task writes it, if it is in `outside`, or if a view of it is",
        (
            [Task("a", ("x", "w"), 64), Task("b", ("a",), 64), Task("c", ("a",), 64)],
            {"y": "c"},
            {"x", "w", "b", "y"},
        ),
        [Interval("a", 64, 0, 2)],
    ),
    (
        "`size` is that of the task that writes the owner itself",
        (
            [Task("a", ("x",), 64), Task("b", ("a",), 192), Task("y", ("b",), 64)],
            {"b": "a"},
            {"x", "y"},
        ),
        [Interval("a", 64, 0, 2)],
    ),
    (
        "A value is left out if no task writes it",
        ([Task("a", ("w", "x"), 64), Task("y", ("a",), 64)], {}, {"y"}),
        [Interval("a", 64, 0, 1)],
    ),
    (
        "One `Interval` for each value",
        (
            [Task("a", ("x",), 64), Task("y", ("x", "x", "x", "a", "x"), 64), Task("b", ("x",), 64),
             Task("c", ("x",), 64), Task("z", ("c", "x", "y", "b"), 64)],
            {},
            {"x", "y", "z"},
        ),
        [Interval("a", 64, 0, 1), Interval("b", 64, 2, 4), Interval("c", 64, 3, 4)],
    ),
    (
        "inputs, constants, results",
        ([Task("y", ("x",), 64), Task("z", ("y",), 64)], {"v": "x"}, {"x", "y", "z", "v"}),
        [],
    ),
    ("the steps of a program in order", ([], {"v": "x"}, {"x", "v"}), []),
]  # fmt: skip


LIFE = [words for words, _, _ in CASES] + [
    *("When is each value alive?", "One `Interval` for each value that needs bytes in the arena"),
    *("the steps of a program in order", "that value may be a view, too"),
    *("values with memory of their own", "returns the intervals, in any order"),
    "A task writes a view if its result is stored over an operand",
    "A value is alive from the task that writes it to the last task that reads it",
]


@checks("schedule.memory.liveness", spec=LIFE)
def lives_are_what_the_words_say(liveness):
    """Each sentence of the specification, on a run of two to four tasks."""
    for spec, run, expected in CASES:
        got = _lives(liveness, run, spec)
        if sorted(got, key=str) != sorted(expected, key=str):
            raise Wrong(
                "These values live otherwise.",
                program=told_run(*run),
                got=told_plan(got),
                expected=told_plan(expected),
                spec=spec,
            )
    return f"{len(CASES)} small runs"


@checks("schedule.memory.liveness", given=runs(6), examples=50, what="random runs", spec=LIFE)
def lives_are_long_enough_and_no_longer(liveness, example):
    """A value lives while a task writes or reads its bytes, and at no other time."""
    tasks, views, outside = example
    found = {i.name: i for i in _lives(liveness, example)}
    uses: dict[str, list[int]] = {}
    for step, task in enumerate(tasks):
        for value in (task.writes, *task.reads):
            uses.setdefault(owner(value, views), []).append(step)
    mine = {t.writes: t.size for t in tasks if t.writes not in views}
    for value in outside:
        mine.pop(owner(value, views), None)

    def wrong(problem: str, spec: str) -> Wrong:
        text = told_run(tasks, views, outside)
        return Wrong(problem, program=text, got=told_plan(found.values()), spec=spec)

    for name in sorted(found.keys() ^ mine.keys()):
        missing = name in mine
        raise wrong(
            f"{name} {'is missing' if missing else 'needs no bytes in the arena'}.",
            "One `Interval` for each value that needs bytes" if missing else "A value is left out",
        )
    for name, size in mine.items():
        life = found[name]
        if (life.first, life.last) != (min(uses[name]), max(uses[name])):
            steps = ", ".join(map(str, sorted(set(uses[name]))))
            raise wrong(
                f"The bytes of {name} are written or read in step {steps}; here {name} lives from "
                f"{life.first} to {life.last}.",
                "A value is alive from the task that writes it to the last task that reads it",
            )
        if life.size != size:
            raise wrong(
                f"{name} has {size} bytes, not {life.size}.",
                "`size` is that of the task that writes the owner itself",
            )


def _lives(liveness: Any, run: Run, spec: str = "") -> list[Interval]:
    text = told_run(*run)
    found = sequence_of(Interval, liveness(*run), "a list of Interval", program=text, spec=spec)
    names = [i.name for i in found]
    if len(set(names)) != len(names):
        raise Wrong(
            "There is one Interval for each value.",
            program=text,
            got=told_plan(found),
            spec="One `Interval` for each value",
        )
    return found


@checks("schedule.memory.liveness", spec=LIFE)
def lives_work_in_the_compiler(liveness):
    """Compiled with these lives: views, values in place, a program that does nothing."""
    for program in small_programs():
        works_in_the_compiler("schedule.memory.liveness", liveness, program)
    return "compiled"


# ── schedule.memory.assign_offsets ──

TOGETHER = "no two values that are alive together share a byte"
RANDOM = [random_lives(100 + k) for k in range(16)]
GOOD = 1.01  # mean of arena / lower bound from which an answer earns all points

# Four lives (size / 64, first, last): a large one; two that share its addresses at another step; a
# small one that is alive with all three, so that most planners place it last.
NESTED = [
    [(8, 0, 0), (4, 1, 1), (3, 1, 1), (2, 0, 1)],
    [(4, 0, 0), (3, 1, 1), (8, 1, 1), (2, 0, 1)],
    [(8, 2, 3), (4, 0, 1), (3, 0, 1), (1, 1, 2)],
]


background(
    "schedule.memory.assign_offsets",
    "The order in which values are placed ... No single rule for the order is best everywhere.",
    because="advice; the score counts the result",
)

PLAN = ("no two values that are alive together share a byte", "returns    {name: offset}",
        "every offset is at least 0 and a multiple of 64",
        "intervals  lives of values, perhaps none")  # fmt: skip


@checks("schedule.memory.assign_offsets", spec=PLAN)
def neighbours_may_lie_in_each_other(assign_offsets):
    """Two neighbours that never meet may overlap in addresses: a gap is what neither has."""
    for rows in NESTED:
        intervals = [Interval("pqrs"[k], 64 * n, a, b) for k, (n, a, b) in enumerate(rows)]
        sound(intervals, assign_offsets(intervals))
    return f"{len(NESTED)} sets of four lives"


@checks(
    "schedule.memory.assign_offsets", given=lives(6), examples=50, what="random lives", spec=PLAN
)
def living_values_share_no_byte(assign_offsets, example):
    """Every value has an address, and two that are alive together share no byte."""
    sound(example, assign_offsets(example))


@checks("schedule.memory.assign_offsets", spec=PLAN)
def there_may_be_little_to_place(assign_offsets):
    """No value, one, one without bytes, and two that meet in one step only."""
    one, empty = Interval("a", 64, 0, 3), Interval("b", 0, 1, 2)
    for intervals in ([], [one], [one, empty], [one, Interval("c", 128, 3, 3)]):
        sound(intervals, assign_offsets(intervals))
    for program in small_programs():
        works_in_the_compiler("schedule.memory.assign_offsets", assign_offsets, program)
    return "small plans, compiled"


@checks("schedule.memory.assign_offsets", spec=[*PLAN, "so that the arena is small"])
def the_arena_is_small(assign_offsets):
    """The arena is near the lower bound, for the four models and for random lives."""
    ratios = {name: _ratio(assign_offsets, lives) for name, lives in LIVES.items()}
    others = [_ratio(assign_offsets, lives) for lives in RANDOM]
    every = [*ratios.values(), *others]
    mean = sum(every) / len(every)
    fraction = min(1.0, max(0.25, 1.0 - 5 * (mean - GOOD)))
    models = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return Score(
        fraction,
        f"arena / lower bound: {mean:.2f} on average, {models}, {len(others)} random sets "
        f"{sum(others) / len(others):.2f}; all points from {GOOD}, the bound is 1.00",
    )


def sound(intervals: list[Interval], offsets: Any) -> dict[str, int]:
    """`offsets` is a plan of these intervals in which no two living values share a byte."""
    text = told_plan(intervals)
    if not isinstance(offsets, Mapping):
        got = "nothing (is a `return` missing?)" if offsets is None else repr(offsets)[:300]
        raise Wrong("The function returns a dict {name: offset}.", program=text, got=got)
    for i in intervals:
        at = offsets.get(i.name)
        if at is None or not whole(at) or at < 0 or at % ALIGNMENT:
            raise Wrong(
                f"The offset of {i.name} is {at!r}.",
                program=text,
                got=told_plan(intervals, offsets),
                spec="every offset is at least 0 and a multiple of 64",
            )
    for k, a in enumerate(intervals):
        for b in intervals[k + 1 :]:
            few = intervals if len(intervals) <= 12 else [a, b]
            low = max(offsets[a.name], offsets[b.name])
            high = min(offsets[a.name] + a.size, offsets[b.name] + b.size)
            if a.overlaps(b) and low < high:
                raise Wrong(
                    f"{a.name} and {b.name} are both alive at step {max(a.first, b.first)} and "
                    f"share the bytes from {low} to {high - 1}.",
                    program=told_plan(few) + _more(intervals, few),
                    got=told_plan(few, offsets) + _more(intervals, few),
                    spec=TOGETHER,
                )
    return dict(offsets)


def _more(intervals: list[Interval], shown: list[Interval]) -> str:
    hidden = len(intervals) - len(shown)
    return f"\nand {hidden} more values" if hidden else ""


def _ratio(assign_offsets: Any, intervals: list[Interval]) -> float:
    offsets = sound(intervals, assign_offsets(intervals))
    return arena(intervals, offsets) / lower_bound(intervals)
