"""Visible checks of unit 4 for lives: liveness.

Lives are compared with what each sentence of the specification says. Next room: offsets.py.
"""

from __future__ import annotations

from typing import Any

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong, checks
from autograder.units.u04.checks.shared import (
    Run,
    runs,
    sequence_of,
    small_programs,
    told_plan,
    told_run,
)
from course_lib.ir.loops.program import owner
from course_lib.memory.liveness import Interval, Task

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
        "A task that stores its result over an old value writes a view",
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
    (
        "a value of 0 bytes has an interval, too",
        ([Task("a", ("x",), 0), Task("b", ("a",), 64), Task("y", ("b",), 0)], {}, {"x", "y"}),
        [Interval("a", 0, 0, 1), Interval("b", 64, 1, 2)],
    ),
]  # fmt: skip


LIFE = [words for words, _, _ in CASES] + [
    *("When is each value alive?", "One `Interval` for each value that needs bytes in the arena"),
    *("the steps of a program in order", "that value may be a view, too"),
    *("values with memory of their own", "returns  a list of the intervals, in any order"),
    "A value is alive from the task that writes it to the last task that reads it",
]


@checks("schedule.memory.liveness", spec=LIFE)
def lives_are_what_the_words_say(liveness):
    """Each sentence of the specification, on a run of two to four tasks."""
    for spec, run, expected in CASES:
        got = _lives(liveness, run, spec)
        if more := {i.name for i in got} - {i.name for i in expected}:
            view = min(more) in run[1]
            raise Wrong(
                f"{min(more)} needs no bytes in the arena{': it is a view' if view else ''}.",
                program=told_run(*run),
                got=told_plan(got),
                expected=told_plan(expected),
                spec="A view has no bytes" if view else "A value is left out",
            )
        if sorted(got, key=str) != sorted(expected, key=str):
            raise Wrong(
                "The lives must be those expected below, but they are not.",
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
                f"The bytes of {name} are written or read in step {steps}, but here {name} lives "
                f"from {life.first} to {life.last}.",
                "A value is alive from the task that writes it to the last task that reads it",
            )
        if life.size != size:
            raise wrong(
                f"{name} must have {size} bytes, not {life.size}.",
                "`size` is that of the task that writes the owner itself",
            )


def _lives(liveness: Any, run: Run, spec: str = "") -> list[Interval]:
    text = told_run(*run)
    found = sequence_of(Interval, liveness(*run), "a list of Interval", program=text, spec=spec)
    names = [i.name for i in found]
    if len(set(names)) != len(names):
        raise Wrong(
            "There must be only one Interval for each value.",
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
    return "programs compiled with the lives that you find"
