"""Which graph each order of some passes ends in: every subset, in every order.

    orders(5)                        ->  ((), (0,), (1,), ..., (4, 3, 2, 1, 0)), 326 of them
    explore(graph, [fold, cse])      ->  Explored(forms=[graph, ...], ends=[0, 1, 0, 2, 2])

An order is one pass longer than another one, so each of the 326 costs one run of a pass; and equal
graphs, however they were reached, are one form: what a pass makes of it is asked once. Next room:
`kernels.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.passes.infra.contract import misplaced
from course_lib.passes.infra.manager import Pass, PassError, run_passes

Order = tuple[int, ...]  # positions in a list of passes


@dataclass(frozen=True, eq=False)
class Explored:
    """forms  the different graphs; in the place of one, what was said when a pass failed
    ends   the form that each order of `orders` ends in
    """

    forms: list[Graph | str]
    ends: list[int]


def orders(count: int) -> tuple[Order, ...]:
    """Every subset of so many passes in every order, the shortest first."""
    return tuple(o for size in range(count + 1) for o in permutations(range(count), size))


def explore(graph: Graph, passes: Sequence[Pass]) -> Explored:
    """Run every order. What a pass cannot do is a form of its own: the words of its error."""
    forms: list[Graph | str] = [graph]
    numbers: dict[str, int] = {print_graph(graph, "exact"): 0}
    made: dict[tuple[int, int], int] = {}  # by form and pass
    ends: dict[Order, int] = {(): 0}

    def number_of(form: Graph | str) -> int:
        text = form if isinstance(form, str) else print_graph(form, "exact")
        if text not in numbers:
            numbers[text] = len(forms)
            forms.append(form)
        return numbers[text]

    def after(start: int, number: int) -> int:
        before = forms[start]
        if isinstance(before, str):
            return start
        if (start, number) not in made:
            made[start, number] = number_of(_run(before, passes[number]))
        return made[start, number]

    for order in orders(len(passes))[1:]:
        refused = misplaced([passes[number] for number in order])
        ends[order] = number_of(refused) if refused else after(ends[order[:-1]], order[-1])
    return Explored(forms, list(ends.values()))


def _run(graph: Graph, one: Pass) -> Graph | str:
    try:
        return run_passes(graph, [one])
    except (PassError, NotImplementedError) as error:
        return str(error)
