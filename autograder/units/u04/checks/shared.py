"""What the checks of unit 4 share: random runs of tasks, and lives and plans as text.

    runs(6)                      # a Hypothesis strategy: (tasks, views, outside)
    print(told_run(*example))    # task 0: a = (x)   64 bytes
    print(told_plan(lives))      # a   128 bytes   steps 0 to 3   offset 64

Next room: liveness.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong
from autograder.check.shown import returned
from course_lib.ir.graph.build import exp, neg, reduce_sum, relu, reshape, softmax, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.loops.program import owner
from course_lib.memory.liveness import ALIGNMENT, Interval, Task

Run = tuple[list[Task], dict[str, str], set[str]]
LETTERS = "abcdefghijklmnopqrstuvw"


@st.composite
def runs(draw: DrawFn, most: int = 6) -> Run:
    """Tasks in order, with views among their values, and results that are written in place."""
    tasks: list[Task] = []
    views: dict[str, str] = {}
    size: dict[str, int] = {}  # of the values that a task wrote
    readable = ["x"]
    for letter in LETTERS[: draw(st.integers(1, most))]:
        reads = draw(st.lists(st.sampled_from(readable), min_size=1, max_size=6))
        mine = [v for v in reads if owner(v, views) in size]
        if mine and draw(st.integers(0, 3)) == 3:  # in place: nobody reads the old value again
            below = owner(mine[0], views)
            readable = [v for v in readable if owner(v, views) != below]
            views[letter] = mine[0]
        size[letter] = 64 * draw(st.sampled_from([0, 1, 2, 3, 5, 1 << 27]))
        tasks.append(Task(letter, tuple(reads), size[owner(letter, views)]))
        readable.append(letter)
        for name in _views_of(letter)[: draw(st.sampled_from([0, 0, 1, 2, 5]))]:
            views[name] = readable[-1]  # each is a view of the one before
            readable.append(name)
    results = draw(st.lists(st.sampled_from(readable[1:]), min_size=1, max_size=2))
    return tasks, views, {"x", *results}


def _views_of(name: str) -> list[str]:
    return [f"{name}_view{k or ''}" for k in range(5)]


def long_run(steps: int = 120) -> Run:
    """Many tasks; the last one reads the values of the first ones, through many views."""
    names = [f"v{k}" for k in range(steps)]
    views = {f"w{k}": f"w{k - 1}" if k else names[0] for k in range(steps)}
    tasks = [Task(name, tuple(names[:k][-2:]) or ("x",), 64 * k) for k, name in enumerate(names)]
    tasks.append(Task("y", (*names[1:9], f"w{steps - 1}"), 64))
    return tasks, views, {"x", "y"}


@st.composite
def lives(draw: DrawFn, most: int = 6) -> list[Interval]:
    """1 to `most` intervals, in no order."""
    one = st.tuples(st.integers(0, 8), st.integers(0, 4), st.integers(0, 6))
    rows = draw(st.lists(one, min_size=1, max_size=most))
    return [Interval(LETTERS[k], 64 * n, a, a + more) for k, (a, more, n) in enumerate(rows)]


def small_programs() -> list[Graph]:
    """Small programs for the compiler: branches, views, rows, other types, nothing to do."""

    def branches(x: Node) -> list[Node]:
        a, b = exp(x), apply("tanh", x)
        c, d = reduce_sum(a, (1,), keepdims=True), reduce_sum(b, (1,), keepdims=True)
        return [relu(reshape(a, (6, 4)) * 2.0), c + d, reshape(neg(b), (24,))]

    return [
        trace(branches, "f32[4,6]"),
        trace(lambda x, w: relu(softmax(x @ w) @ w) + x, "f64[3,3]", "f64[3,3]"),
        trace(lambda x: [x, neg(apply("abs", x))], "i32[0,4]"),
        trace(lambda x: [x, reshape(x, (6,))], "f32[2,3]"),
    ]


def compiled(slot: str, answer: Any, seen: str) -> str:
    """`seen`, if the small programs compute the same with the answer in its slot."""
    for program in small_programs():
        works_in_the_compiler(slot, answer, program)
    return seen


def told_run(tasks: Sequence[Task], views: Mapping[str, str], outside: Collection[str]) -> str:
    """A run as text: tasks, in-place results with what they are stored over, views, outside."""
    lines = []
    for step, task in enumerate(tasks):
        over = f", stored over {views[task.writes]}" if task.writes in views else ""
        value = f"{task.writes} = ({', '.join(task.reads)}){over}"
        lines.append(f"task {step}: {value}   {task.size} bytes")
    written = {task.writes for task in tasks}
    lines += [f"view {view} of {seen}" for view, seen in views.items() if view not in written]
    if outside:
        lines.append(f"outside: {', '.join(sorted(outside))}")
    return "\n".join(lines)


def told_plan(intervals: Iterable[Any], offsets: Mapping[str, Any] | None = None) -> str:
    """Lives, and where they lie, as text."""
    lines = []
    for i in intervals:
        where = "" if offsets is None else f"   offset {offsets[i.name]}"
        lines.append(f"{i.name}   {i.size} bytes   steps {i.first} to {i.last}{where}")
    return "\n".join(lines) or "no value"


def arena(intervals: Sequence[Interval], offsets: Mapping[str, int]) -> int:
    """Bytes up to the end of the highest value."""
    return max((int(offsets[i.name]) + i.size for i in intervals), default=0)


def sequence_of(kind: type, value: Any, what: str, ordered: bool = False, **shown: Any
                ) -> list[Any]:  # fmt: skip
    """A list or tuple of records of one kind; a set, too, unless their order counts."""
    forms = (list, tuple) if ordered else (list, tuple, set, frozenset)
    if not isinstance(value, forms) or not all(isinstance(v, kind) for v in value):
        raise Wrong(f"The function must return {what}.", got=returned(value), **shown)
    return list(value)


def plan_of(names: Iterable[str], plan: Any, program: str, form: str, spec: str) -> dict[str, int]:
    """The offsets of an answer: one for each of these names, a multiple of 64."""
    if not isinstance(plan, Mapping):
        problem = "The function must return a dict {name: offset}."
        raise Wrong(problem, program=program, got=returned(plan), spec=form)
    for name in names:
        at, problem = plan.get(name), ""
        if at is None:
            problem, spec = f"{name} must have an offset.", form
        elif not whole(at) or at < 0 or at % ALIGNMENT:
            problem = f"The offset of {name} must be at least 0 and a multiple of 64, not {at!r}."
        if problem:
            raise Wrong(problem, program=program, got=repr(dict(plan)), spec=spec)
    return {name: int(plan[name]) for name in names}


def whole(value: Any) -> bool:
    """A whole number of Python or numpy, and no bool."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
