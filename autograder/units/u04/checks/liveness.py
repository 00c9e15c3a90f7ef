"""Visible checks of unit 4 for lives: liveness.

Lives are compared with what each sentence of the specification says. Next room: offsets.py.
"""

from __future__ import annotations

from typing import Any

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.units.u04.checks import shared
from autograder.units.u04.checks.shared import Run, runs, sequence_of, told_plan, told_run
from course_lib.ir.loops.program import owner
from course_lib.memory.liveness import Interval, Task


def _rows(text: str) -> list[list[str]]:
    return [row.split() for row in text.split(";") if row]


def small_run(tasks: str, outside: str, views: str = "") -> Run:
    """The run of a row of the table: "a 64 x; b 128 a x" are two tasks, "w v; v a" two views."""
    all_tasks = [Task(name, tuple(reads), int(size)) for name, size, *reads in _rows(tasks)]
    return all_tasks, {view: seen for view, seen in _rows(views)}, set(outside.split())


def small_lives(text: str) -> list[Interval]:
    """The lives of a row: "a 64 0 2" are 64 bytes from step 0 to step 2."""
    return [Interval(name, *map(int, numbers)) for name, *numbers in _rows(text)]


SLOT = "schedule.memory.liveness"
RETURNS = "returns  a list of the intervals, in any order"
ONE = "One `Interval` for each value"
OWN_SIZE = "`size` is that of the task that writes the owner itself"

# One small run for each sentence of the specification: (run, lives, words).
CASES: list[tuple[Run, list[Interval], str]] = [
    (small_run(*run), small_lives(lives), words)
    for words, lives, *run in [
        ("from the task that writes it to the last task that reads it, both included",
         "a 64 0 2; b 128 1 2; c 64 2 3", "a 64 x; b 128 a; c 64 b a; y 64 c", "x y"),
        ("that no task reads is alive while it is written",
         "a 64 0 0; b 64 1 2", "a 64 x; b 64 x; y 64 b", "x y"),
        ("the owner lives as long as any view of it is used",
         "a 64 0 3; b 64 1 2; c 64 2 3", "a 64 x; b 64 x; c 64 b; y 64 w c", "x y", "v a; w v"),
        ("A task that stores its result over an old value writes a view",
         "a 128 0 2; c 128 2 3", "a 128 x; b 128 a; c 128 b; y 64 c", "x y", "b a"),
        ("to read or write it is to read or write its owner",
         "a 128 0 2; c 64 1 3", "a 128 x; c 64 x; b 128 x; y 64 c", "x y", "b a"),
        (OWN_SIZE, "a 192 0 2", "a 192 x; b 64 a; y 64 b", "x y", "b a"),
        ("A value is left out if no task writes it, if it is in `outside`, or if a view of it is",
         "a 64 0 2", "a 64 x w; b 64 a; c 64 a", "x w b y", "y c"),
        (OWN_SIZE, "a 64 0 2", "a 64 x; b 192 a; y 64 b", "x y", "b a"),
        ("A value is left out if no task writes it", "a 64 0 1", "a 64 w x; y 64 a", "y"),
        (ONE, "a 64 0 1; b 64 2 4; c 64 3 4",
         "a 64 x; y 64 x x x a x; b 64 x; c 64 x; z 64 c x y b", "x y z"),
        ("inputs, constants, results", "", "y 64 x; z 64 y", "x y z v", "v x"),
        ("the steps of a program in order", "", "", "x v", "v x"),
        ("a value of 0 bytes has an interval, too",
         "a 0 0 1; b 64 1 2", "a 0 x; b 64 a; y 0 b", "x y"),
    ]
]  # fmt: skip


LIFE = [words for *_, words in CASES] + [
    *("When is each value alive?", "One `Interval` for each value that needs bytes in the arena"),
    *("the steps of a program in order", "that value may be a view, too"),
    *("values with memory of their own", RETURNS),
    "A value is alive from the task that writes it to the last task that reads it",
]


@for_each(SLOT, CASES, "{} small runs", spec=LIFE)
def lives_are_what_the_words_say(liveness, run, expected, spec):
    """Each sentence of the specification, on a run of two to four tasks."""
    got = _lives(liveness, run)
    more, problem = {i.name for i in got} - {i.name for i in expected}, ""
    if more:
        view = min(more) in run[1]
        problem = f"{min(more)} needs no bytes in the arena{': it is a view' if view else ''}."
        spec = "A view has no bytes" if view else "A value is left out"
    elif sorted(got, key=str) != sorted(expected, key=str):
        problem = "The lives must be those expected below, but they are not."
    if problem:
        text, plan = told_run(*run), told_plan(expected)
        raise Wrong(problem, program=text, got=told_plan(got), expected=plan, spec=spec)


@checks(SLOT, given=runs(6), examples=50, what="random runs", spec=LIFE)
def lives_are_long_enough_and_no_longer(liveness, example):
    """A value lives while a task writes or reads its bytes, and at no other time."""
    tasks, views, outside = example
    lives = {i.name: i for i in _lives(liveness, example)}
    uses: dict[str, list[int]] = {}
    for step, task in enumerate(tasks):
        for value in (task.writes, *task.reads):
            uses.setdefault(owner(value, views), []).append(step)
    apart = {*views, *(owner(value, views) for value in outside)}
    planned = {t.writes: t.size for t in tasks if t.writes not in apart}

    def wrong(problem: str, spec: str) -> Wrong:
        return Wrong(problem, program=told_run(*example), got=told_plan(lives.values()), spec=spec)

    for name in sorted(planned.keys() - lives.keys()):
        raise wrong(f"{name} is missing.", "One `Interval` for each value that needs bytes")
    for name in sorted(lives.keys() - planned.keys()):
        raise wrong(f"{name} needs no bytes in the arena.", "A value is left out")
    for name, size in planned.items():
        life, steps = lives[name], ", ".join(map(str, sorted(set(uses[name]))))
        if (life.first, life.last) != (min(uses[name]), max(uses[name])):
            raise wrong(f"The bytes of {name} are written or read in step {steps}, but here {name} "
                        f"lives from {life.first} to {life.last}.", LIFE[-1])  # fmt: skip
        if life.size != size:
            raise wrong(f"{name} must have {size} bytes, not {life.size}.", OWN_SIZE)


@checks(SLOT, spec=LIFE)
def lives_of_many_tasks(liveness):
    """Lives that begin with the first task and end with the last, of 121."""
    try:
        lives_are_long_enough_and_no_longer(liveness, shared.long_run())
    except Wrong as error:
        error.program = "121 tasks; the last one reads what the first ones wrote"
        error.got = None
        raise
    return "a run of 121 tasks"


def _lives(liveness: Any, run: Run) -> list[Interval]:
    text = told_run(*run)
    lives = sequence_of(Interval, liveness(*run), "a list of Interval", program=text, spec=RETURNS)
    if len({i.name for i in lives}) != len(lives):
        problem = "There must be only one Interval for each value."
        raise Wrong(problem, program=text, got=told_plan(lives), spec=ONE)
    return lives


@checks(SLOT, spec=LIFE)
def lives_work_in_the_compiler(liveness):
    """Compiled with these lives: views, values in place, a program that does nothing."""
    return shared.compiled(SLOT, liveness, "programs compiled with the lives that you find")
