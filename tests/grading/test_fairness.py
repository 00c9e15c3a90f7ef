"""Right answers that look different from ours, or sit in a damaged notebook, earn their points."""

from __future__ import annotations

import json

import pytest

from autograder.check.verdict import ABSENT, NO_TEXT, STUB, UNREACHED
from autograder.grading.grade import grade
from autograder.grading.limits import Limits
from autograder.grading.page import feedback_page
from autograder.grading.program import read

HEAD = "from course_lib.ir.graph.graph import Graph\n"
SWEEP = HEAD + '@implements("u99.sweep")\ndef sweep(graph):\n    '
RIGHT = "return Graph.of(graph.inputs, graph.outputs, graph.name)\n"

FINE = {
    "prints": [SWEEP + "print('x' * 100_000)\n    " + RIGHT],
    "warns": [SWEEP + "import warnings\n    warnings.warn('careful')\n    " + RIGHT],
    "writes_to_stderr": [SWEEP + "import sys\n    print('hm', file=sys.stderr)\n    " + RIGHT],
    "has_its_helper_in_another_cell": [
        HEAD + "def helper(graph):\n    " + RIGHT,
        '@implements("u99.sweep")\ndef sweep(graph):\n    return helper(graph)',
    ],
    "helper_of_a_helper": [
        "from course_lib.ir.graph.graph import Graph",
        "ends = []\nends.append('outputs')",
        "def outputs(graph): return getattr(graph, ends[0])",
        '@implements("u99.sweep")\ndef s(g): return Graph.of(g.inputs, outputs(g), g.name)',
    ],
    "asks_how_output_is_encoded": [
        SWEEP
        + "import sys\n    print('π'.encode(sys.stdout.encoding, sys.stderr.errors))\n    "
        + RIGHT
    ],
    "uses_the_names_of_a_notebook": [
        "1 + 1\nprint(len(In), In[-1], Out, _, __, _ih[-1], _oh, _dh)",
        "help(print)\ndisplay(_)\nexit, quit, ___",
        SWEEP + "assert 'sweep' in In[-1] and not Out\n    " + RIGHT,
    ],
    "uses_magics": ["%matplotlib inline\n!ls\n" + SWEEP + RIGHT + "\n%timeit 1\nsweep?"],
    "timed_cell": ["%%time\n" + SWEEP + RIGHT],
    "fails_after_the_function": [SWEEP + RIGHT + "\nprint(undefined)"],
    "stands_between_broken_cells": ["def (", "1/0", SWEEP + RIGHT, "while True"],
    "catches_everything": [
        SWEEP + "try:\n        1/0\n    except BaseException: pass\n    " + RIGHT
    ],
    "recurses_by_its_own_name": [
        HEAD + '@implements("u99.sweep")\ndef sweep(graph, again=True):\n'
        "    return sweep(graph, False) if again else "
        "Graph.of(graph.inputs, graph.outputs, graph.name)"
    ],
    "fills_a_table_in_a_loop": [
        HEAD + "PARTS = {}\nfor part in ('inputs', 'outputs'):\n    PARTS[part] = part",
        "T = {'name': []}\nif True:\n    T['name'].append('name')",
        '@implements("u99.sweep")\ndef s(g):\n    ends = [getattr(g, p) for p in PARTS]\n'
        "    return Graph.of(*ends, getattr(g, T['name'][0]))",
    ],
    "imports_in_a_try": [
        "try:\n    from course_lib.ir.graph.graph import Graph\nexcept ImportError:\n    pass",
        SWEEP.removeprefix(HEAD) + RIGHT,
    ],
    "has_its_names_used_for_something_else_below_its_check": [
        "from course_lib.ir.graph import graph as room",
        '@implements("u99.sweep")\ndef sweep(g):\n'
        "    return room.Graph.of(g.inputs, g.outputs, g.name)",
        'check("u99.sweep")',
        "rows = []\nfor room in ('kitchen', 'bath'):\n    rows.append(room)",
        '@implements("u99.bytes")\ndef size(): return 24 * len(rows) / len(rows)',
    ],
    "has_a_helper_of_the_same_name_as_the_next_answer": [
        HEAD + '@implements("u99.sweep")\ndef sweep(g): return helper(g)\n'
        "def helper(g): return Graph.of(g.inputs, g.outputs, g.name)",
        'check("u99.sweep")',
        '@implements("u99.bytes")\ndef size(): return helper()\ndef helper(): return 24',
        'check("u99.bytes")',
    ],
    "mends_its_helper_before_its_check": [
        HEAD + "def helper(g): return None",
        '@implements("u99.sweep")\ndef sweep(g): return helper(g)',
        "def helper(g): return Graph.of(g.inputs, g.outputs, g.name)",
        'check("u99.sweep")',
    ],
    "calls_what_stands_below_its_check": [
        '@implements("u99.sweep")\ndef sweep(g): return helper(g)',
        'check("u99.sweep")',
        HEAD + "def helper(g): return Graph.of(g.inputs, g.outputs, g.name)",
    ],
    "displays": [SWEEP + "display(graph)\n    " + RIGHT],
    "is_a_lambda": [
        HEAD + 'implements("u99.sweep")(lambda g: Graph.of(g.inputs, g.outputs, g.name))'
    ],
    "is_written_twice": [SWEEP + "return None", SWEEP + RIGHT],
    "has_a_stub_after_it": [SWEEP + RIGHT, SWEEP + 'raise NotImplementedError("later")'],
    "imports_late": [SWEEP + "import numpy.random, collections, json, decimal\n    " + RIGHT],
    "shows_a_picture_first": ["import nothing_here", SWEEP + RIGHT],
}


@pytest.mark.parametrize("name", FINE)
def test_it_passes(name, verdict_of):
    verdict = verdict_of("u99.sweep", *FINE[name])
    assert (verdict.kind, verdict.earned) == ("passed", 3), verdict


@pytest.mark.parametrize("value", ["24", "24.3", "__import__('numpy').float32(24)", "True * 24"])
def test_a_number_is_a_number(value, verdict_of):
    assert verdict_of("u99.bytes", f'@implements("u99.bytes")\ndef f(): return {value}').earned == 1


def test_the_instructors_notebook_earns_everything(grading, solved):
    report = grading(solved)
    assert report.earned - report.bonus == report.possible - report.to_grade == 8
    assert report.bonus == 2
    assert [v.kind for v in report.verdicts if v.earned is None] == ["by hand"]


def test_the_untouched_notebook_earns_nothing(grading, untouched):
    report = grading(untouched)
    assert report.earned == 0 and report.to_grade == 0
    assert {v.kind for v in report.verdicts} == {"not attempted"}
    assert {v.problem for v in report.verdicts} == {STUB, NO_TEXT}
    page = feedback_page(report, "ada")
    assert page.count("still holds the empty stub") == 5 and "written no text below" in page
    assert '<section class="verdict' not in page  # the table says all that there is to say


def test_empty_notebook_earns_nothing(grading, notebook):
    report = grading(notebook(""))
    assert report.earned == 0 and {v.problem for v in report.verdicts} == {ABSENT, NO_TEXT}


def test_feedback_says_why_an_answer_counts_as_not_attempted(verdict_of):
    half = """
        @implements("u99.sweep")
        def sweep(graph):
            if graph is None:
                return graph
            raise NotImplementedError("later")"""
    verdict = verdict_of("u99.sweep", half)
    assert verdict.kind == "not attempted" and "the rest is not written yet" in verdict.problem
    assert "line 5 of your cell" in verdict.problem
    helper = "def needed(graph):\n    exec('raise NotImplementedError(7)', {})"
    calls = '@implements("u99.sweep")\ndef sweep(graph):\n    return needed(graph)'
    verdict = verdict_of("u99.sweep", helper, calls)
    assert verdict.kind == "not attempted" and "calls something that raises" in verdict.problem
    skipped = 'if False:\n    @implements("u99.sweep")\n    def sweep(graph):\n        return graph'
    assert verdict_of("u99.sweep", skipped).problem == UNREACHED


@pytest.mark.parametrize("damage", ["metadata", "ids", "order", "checks", "copies", "kinds"])
def test_damage_costs_nothing(damage, grading, solved):
    content = json.loads(solved)
    cells = content["cells"]
    answers = [c for c in cells if "@implements" in "".join(c["source"])]
    if damage == "metadata":
        for cell in cells:  # the text of an explanation is known by its id
            cell["metadata"] = []
    elif damage == "ids":
        for cell in cells:
            cell.pop("id")
    elif damage == "order":
        cells.reverse()
    elif damage == "checks":
        content["cells"] = [c for c in cells if "check(" not in "".join(c["source"])]
    elif damage == "copies":
        cells += answers
    else:
        cells.insert(0, "not a cell")
        cells.insert(1, {"cell_type": 7, "source": None, "metadata": None})
    report = grading(json.dumps(content).encode())
    assert report.earned == 10, report


def test_wrong_line_is_the_students_own(verdict_of):
    verdict = verdict_of(
        "u99.sweep", HEAD + '\n@implements("u99.sweep")\ndef f(g):\n    return g.no'
    )
    assert verdict.kind == "crashed"
    assert (verdict.line, verdict.code) == (5, "return g.no")
    assert verdict.error.startswith("AttributeError") and verdict.program.startswith("graph @")


def test_syntax_error_says_its_line(verdict_of):
    verdict = verdict_of("u99.sweep", '@implements("u99.sweep")\ndef f(g):\n    return (')
    assert verdict.kind == "crashed" and verdict.line and "SyntaxError" in verdict.error


def test_endless_cell_is_told_the_limit_of_a_cell(assignment, notebook):
    limits = Limits(start=60, cell=1, call=10)
    cell = '@implements("u99.sweep")\ndef sweep(graph): return graph\nwhile True: pass'
    report = grade(assignment, read(notebook(cell)), limits=limits)
    verdict = next(v for v in report.verdicts if v.exercise == "u99.sweep")
    assert verdict.problem == "While running the cell: It did not end within 1 second."


def test_grade_is_a_pure_function(assignment, solved):
    from autograder.grading.grade import grade
    from autograder.grading.program import read

    program = read(solved, assignment.explanations)
    first, second = (grade(assignment, program, seed=3).to_json() for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_broken_check_costs_no_points(grading, solved, monkeypatch):
    import autograder.grading.grade

    def broken(*args, **kwargs):
        raise ZeroDivisionError("our fault")

    monkeypatch.setattr(autograder.grading.grade, "judge", broken)
    report = grading(solved)
    assert report.earned == 0 and report.to_grade == report.possible + 2, "the bonus is open, too"
    assert {v.kind for v in report.verdicts} == {"grader", "by hand"}


def test_a_wrong_answer_costs_no_other_answer_its_points(verdict_of):
    wrong = '@implements("u99.sweep")\ndef broken(graph): return None'
    dead = """
        from autograder.units.u99.exercises import sweep
        from course_lib.ir.graph.build import trace
        from course_lib.ir.graph.graph import Graph
        @implements("u99.dead")
        def dead():
            graph = sweep(trace(lambda x: -x, "f32[2]"))   # the stand-in, not `broken`
            (x,) = graph.inputs
            return Graph("dead", (x,), (*graph.nodes, -x), graph.outputs)
        """
    assert verdict_of("u99.sweep", wrong, dead).earned == 0
    assert verdict_of("u99.dead", wrong, dead).earned == 2
