"""What makes the recordings of unit 9 that nothing but this compiler needs: its trees, its luck.

    recorded(problem_of(SHAPES[name]))      a wide search as plain data

Each takes minutes. Next room: landscapes.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from course_lib.cost.nest import CLOCK, predict
from course_lib.maker import maker
from course_lib.schedule.search.evolve import evolve
from course_lib.schedule.search.moves import moves
from course_lib.schedule.search.problem import Budget, Decision, Problem, Record
from course_lib.schedule.search.sample import sample
from course_lib.schedule.search.search import Search, State
from course_lib.schedule.search.space import estimate
from lessons.u09.landscapes import SHAPES, problem_of
from lessons.u09.luck import DEPTH, so_far

WIDTHS = {"tile": 99, "order": 4, "inner": 30, "parallel": 4}
WALKS, RUNS, PRICES = 100, 8, 100
SEARCHES: dict[str, Callable[..., Record]] = {"random": sample, "evolution": evolve}


@maker("course-lib", "course_lib", seconds=300)
def trees() -> dict[str, str]:
    return texts_of({name: problem_of(shape) for name, shape in SHAPES.items()})


def texts_of(problems: Mapping[str, Problem]) -> dict[str, str]:
    """The trees as the texts of a recording."""
    return {name: json.dumps(recorded(problem), ensure_ascii=False, separators=(",", ":"))
            for name, problem in problems.items()}  # fmt: skip


def recorded(problem: Problem) -> dict[str, Any]:
    """A wide search as plain data: the price of the start in clocks, a table of decisions, and for
    each state its parent (0 is the start), its last decision, and its price."""
    search = Search(problem, Budget(priced=1_000_000), predict)
    search.run(lambda: None)  # prices the default
    texts: dict[str, int] = {}
    rows: list[list[int]] = []
    places: dict[int | None, int] = {None: 0}
    going_on = [search.root]
    for _ in range(DEPTH):
        by_kind: dict[str, list[State]] = {}
        for state in going_on:
            for move in moves(problem, state.kernel, state.decisions):
                new = search.extend(state, move)
                if new is None or new.number is None:
                    continue
                candidate = search.candidates[new.number]
                last = texts.setdefault(as_text(new.decisions[-1]), len(texts))
                rows.append([places[state.number], last, round((candidate.predicted or 0) * CLOCK)])
                places[new.number] = len(rows)
                by_kind.setdefault(move.kind, []).append(new)
        going_on = [
            state
            for kind, states in by_kind.items()
            for state in sorted(states, key=lambda s: rows[places[s.number] - 1][2])[: WIDTHS[kind]]
        ]
    start = round(predict(problem.kernel, problem.machine).clocks)
    return {"start": start, "decisions": list(texts), "rows": rows}


def as_text(decision: Decision) -> str:
    return f"{decision.kind}: {decision}"


@maker("course-lib", "course_lib", seconds=300)
def drawn() -> dict[str, str]:
    problem = problem_of(next(iter(SHAPES.values())))
    results: dict[str, Any] = {
        words: [so_far(search(problem, Budget(priced=PRICES), predict, seed=seed, depth=DEPTH))
                for seed in range(RUNS)]
        for words, search in SEARCHES.items()
    }  # fmt: skip
    results["walks"] = [estimate(problem, DEPTH, walks=1, seed=seed) for seed in range(WALKS)]
    return {name: json.dumps(data, separators=(",", ":")) for name, data in results.items()}
