"""The teacher's two pages: what they say about a class, and that anybody can read them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from autograder.check.verdict import BY_HAND, CRASHED, NOT_ATTEMPTED, PASSED, WRONG, Verdict
from autograder.grading.assignment import Assignment
from autograder.grading.book import originality as room
from autograder.grading.book.clusters import ELSEWHERE, groups, often
from autograder.grading.book.entries import Entry
from autograder.grading.book.originality import LEAST, similar, write_originality
from autograder.grading.book.pages import histogram
from autograder.grading.book.roster import Person
from autograder.grading.book.shapes import code_shape, helpers_of, shape_of
from autograder.grading.book.statistics import write_statistics
from autograder.grading.program import Cell, Program
from autograder.grading.report import Report
from autograder.grading.submissions import Handed
from autograder.grading.tasks import Task, tasks


def test_more_points_than_possible_are_counted_in_the_last_column():
    picture = histogram([2, 10, 12], 10, "People")
    assert "<title>2 with 9 to 10 or more points</title>" in picture
    assert "<title>1 with 2 to 3 (not included) points</title>" in picture


SWEEP = '@implements("u99.sweep")\n'
UNIT = Assignment(99, "u99_example", ("u99.sweep", "u99.why"), Path("/tmp"), "d")

ANSWER = (
    SWEEP
    + '''def sweep(graph):
    """Remove what nothing uses."""
    used = set()
    # walk from the end
    for node in reversed(graph.nodes):
        if node in graph.outputs or node in used:
            used.update(node.inputs)
            used.add(node)
    kept = [node for node in graph.nodes if node in used]
    return Graph(graph.name, graph.inputs, tuple(kept), graph.outputs)
'''
)
RENAMED = (
    SWEEP
    + """def my_pass(g):
    alive = set()
    for n in reversed(g.nodes):

        if n in g.outputs or n in alive:
            alive.update(n.inputs)
            alive.add(n)    # because it is used
    rest = [q for q in g.nodes if q in alive]
    return Graph(g.name, g.inputs, tuple(rest), g.outputs)
"""
)
OTHER = (
    SWEEP
    + """def sweep(graph):
    todo, seen = list(graph.outputs), {}
    while todo:
        node = todo.pop()
        if seen.setdefault(id(node), node) is node and id(node) not in seen:
            continue
        todo.extend(i for i in node.inputs if id(i) not in seen)
    return graph.with_nodes(n for n in graph.nodes if id(n) in seen)
"""
)


def line(student: str, source: str, kind: str = WRONG, text: str = "", program: str = "") -> Entry:
    problem = "Something dead is left."
    sweep = Verdict("u99.sweep", kind, 3, 3 if kind == PASSED else 0, check="leaves_nothing_dead",
                    problem=problem, program=program)  # fmt: skip
    why = Verdict("u99.why", BY_HAND, 2, None) if text else Verdict("u99.why", NOT_ATTEMPTED, 2)
    texts = {"u99.why": text} if text else {}
    program_of = Program((Cell(source, ("u99.sweep",), 1),), texts)
    report = Report("u99_example", 99, "d", student, 0, "", (sweep, why), texts)
    task = Task(student, UNIT, f"{student}.ipynb", program_of)
    return Entry(student, "u99_example", "u99", 5, "handed in", None, task, report)


# --- shapes --------------------------------------------------------------------------------------


def test_names_layout_and_comments_do_not_count():
    one, two, three = (code_shape(source) for source in (ANSWER, RENAMED, OTHER))
    assert one and two and three and one.key != three.key
    # In `kept` Ada has one name for two things, where the copy has two.
    assert len(one.key) == len(two.key) and one.key[:20] == two.key[:20]


@pytest.mark.parametrize(
    "one, other",
    [("a + b", "a - b"), ("f(x)", "g(x)"), ("x.a", "x.b"), ("f(1)", "f(2)"), ("f(k=x)", "f(l=x)")],
)
def test_what_the_code_does_counts(one, other):
    found = [code_shape(f"def f(x, y):\n    return {text}") for text in (one, other)]
    assert found[0] and found[1] and found[0].key != found[1].key


def test_hostile_sources_have_no_shape_or_a_small_one():
    for source in ("(" * 5000, "x = " + "-" * 100_000 + "1", "x = 0x" + "f" * 9000, "\0", "def"):
        shape = code_shape(source)
        assert shape is None or len(shape.tokens) <= 20_000
    assert len((code_shape("x = 1\n" * 100_000) or pytest.fail()).tokens) <= 20_000


def test_the_answer_is_found_in_its_cell_and_helpers_beside_it():
    cell = f"import math\n\ndef helper(): pass\n\n{ANSWER}"
    program = Program((Cell("limit = 7", (), 1), Cell(cell, ("u99.sweep",), 2)))
    shape = shape_of(program, "u99.sweep")
    assert shape and shape.source.startswith("@implements") and "helper" not in shape.source
    assert shape_of(program, "u99.dead") is None
    helpers = helpers_of(program)
    assert helpers and helpers.source == "limit = 7"


# --- statistics ----------------------------------------------------------------------------------


def page_of(tmp_path: Path, lines: list[Entry]) -> str:
    return write_statistics(lines, tmp_path).read_text()


def test_statistics_count_what_happened(tmp_path):
    lines = [
        line("ada", ANSWER, PASSED),
        line("bob", OTHER, WRONG, program="graph of five lines"),
        line("cyd", OTHER, WRONG, program="small"),
        line("dan", RENAMED, CRASHED),
        line("eve", SWEEP, NOT_ATTEMPTED),
        Entry("fay", "u99_example", "u99", 5, "nothing handed in"),
    ]
    page = page_of(tmp_path, lines)
    assert re.search(r"<strong>5</strong>handed in", page)
    assert re.search(r"<strong>1</strong>handed nothing in", page)
    assert 'aria-label="1 passed, 2 not yet right, 1 raised an error, 1 not attempted"' in page
    assert "1 of 5" in page and "75%" in page, "three of the four who tried"
    assert "<pre>small</pre>" in page and "graph of five lines" not in page
    assert "2 people" in page and "bob, cyd" in page
    assert "People by points of the core: 4 from 0, 1 from 3" in page


def test_a_bonus_is_not_among_the_points_of_the_core(tmp_path):
    def with_bonus(student: str, earned: float) -> Entry:
        more = Verdict("u99.live", PASSED, 8, 8, further=True)
        entry = replace(line(student, ANSWER, PASSED if earned else WRONG), bonus=8)
        assert entry.report
        return replace(entry, report=replace(entry.report, verdicts=(*entry.report.verdicts, more)))

    page = page_of(tmp_path, [with_bonus("ada", 3), with_bonus("bob", 0), line("cyd", ANSWER)])
    assert "<strong>0 of 5</strong>points of the core in the middle" in page
    assert "<strong>2</strong>with a bonus" in page
    assert "People by points of the core: 2 from 0, 1 from 3" in page


def test_an_explanation_that_waits_has_no_mean_and_no_share_that_passed(tmp_path):
    lines = [line("ada", ANSWER, PASSED, text="Because."), line("bob", OTHER)]
    row = re.findall(r"<tr><td><code>u99.<wbr>why</code>.*?</tr>", page_of(tmp_path, lines))[0]
    assert row.count('<td class="number">–</td>') == 1 and "– of 2" in row


def test_an_error_is_said_and_not_only_that_there_was_one(tmp_path):
    entry = line("ada", ANSWER, CRASHED, program="small")
    assert entry.report
    verdict = replace(
        entry.report.verdicts[0], problem="Your code raised an error.", error="KeyError: 7"
    )
    entry = replace(entry, report=replace(entry.report, verdicts=(verdict,)))
    page = page_of(tmp_path, [entry])
    assert "KeyError: 7" in page and "Your code raised" not in page


def test_hints_are_counted_where_the_outputs_show_them(tmp_path, assignment, solved):
    content = json.loads(solved)
    shown = ["u99.sweep, hint 1 of 3: think\n", "u99.sweep, hint 2 of 3: more\n"]
    content["cells"][-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": shown}]
    (task,) = tasks([Handed("ada", "ada.ipynb", json.dumps(content).encode())], [assignment])
    assert task.hints == (("u99.sweep", 2),)


def test_what_students_write_is_text_on_the_page(tmp_path, source):
    evil = SWEEP + "def f(graph):\n    return '</pre><script>alert(1)</script>'"
    lines = [line(f"<b>{n}", evil, WRONG, "x</td><script>", "<img src=x>") for n in range(3)]
    for path in (
        write_statistics(lines, tmp_path),
        write_originality(lines, [source], tmp_path),
    ):
        page = path.read_text()
        assert "<script" not in page and "<img" not in page and "<b>" not in page


# --- originality ---------------------------------------------------------------------------------


def originality(tmp_path, source, lines: list[Entry]) -> str:
    return write_originality(lines, [source], tmp_path).read_text()


def test_a_renamed_copy_is_shown_side_by_side(tmp_path, source):
    page = originality(
        tmp_path, source, [line("ada", ANSWER), line("bob", RENAMED), line("cyd", OTHER)]
    )
    assert "ada and bob" in page and "cyd" not in page
    assert "Similarity is no proof" in page and "<mark>    used = set()</mark>" in page
    assert "alive.add(n)    # because it is used" in page


def test_what_everybody_was_given_or_wrote_is_no_resemblance(tmp_path, source, untouched):
    stub = "".join(
        next(c for c in json.loads(untouched)["cells"] if c["id"] == "u99-sweep")["source"]
    )
    page = originality(tmp_path, source, [line("ada", stub), line("bob", stub)])
    assert "No two answers" in page
    whole_class = [line(f"s{n:02}", ANSWER) for n in range(12)]
    assert "No two answers" in originality(tmp_path, source, whole_class)


def test_copied_explanations_are_shown(tmp_path, source):
    text = "A node is dead when no path leads from it to an output, so that nobody ever reads what "
    text += "it computes, and removing it changes nothing that anyone could see from outside."
    lines = [line("ada", ANSWER, text=text), line("bob", OTHER, text=f"Well. {text}")]
    assert "u99.why" in originality(tmp_path, source, lines)


def test_many_people_with_one_answer_are_one_group(tmp_path, source):
    lines = [line(name, ANSWER) for name in ("ada", "bob", "cyd")]
    own = [line(f"s{n}", f"{SWEEP}def sweep(graph):\n    return f{n}(graph)") for n in range(9)]
    page = originality(tmp_path, source, [*lines, *own, line("dan", OTHER)])
    assert "1 group" in page and "3 people, 3 pairs: ada, bob, cyd" in page
    assert "ada and bob, with 1 more" in page and page.count("<section") == 1


def test_groups_hang_together_by_their_pairs():
    pairs = [
        room.Pair("x", names, ("", ""), (frozenset(), frozenset()), 20, share)
        for names, share in ((("a", "b"), 0.9), (("c", "d"), 0.6), (("b", "e"), 0.7))
    ]
    pairs.append(room.Pair("y", ("b", "a"), ("", ""), (frozenset(), frozenset()), 20, 0.5))
    found = groups(pairs)
    assert [(g.exercise, g.students, g.pairs) for g in found] == [
        ("x", ("a", "b", "e"), 2), ("x", ("c", "d"), 1), ("y", ("a", "b"), 1),
    ]  # fmt: skip
    assert found[0].closest.students == ("a", "b") and often(found) == [(("a", "b"), 2)]


def test_of_two_pairs_as_close_that_of_this_class_is_shown():
    nothing = (frozenset[int](), frozenset[int]())
    pairs = [
        room.Pair("x", names, ("", ""), nothing, 20, 0.9)
        for names in (("ada", f"{ELSEWHERE}ada"), ("ada", "bob"))
    ]
    assert groups(pairs)[0].closest.students == ("ada", "bob")


def test_people_on_the_roster_are_called_by_name(tmp_path, source):
    lines = [line("id1", ANSWER), line("id2", RENAMED), line("id3", OTHER)]
    lines[0] = replace(lines[0], person=Person("id1", "Ada <Lovelace>"))
    page = originality(tmp_path, source, lines)
    assert "Ada &lt;Lovelace&gt; (id1) and id2" in page


def test_another_class_is_compared_with_this_one_only(tmp_path, source):
    def last_year(student: str, source_text: str, reason: str = "") -> Task:
        program = Program((Cell(source_text, ("u99.sweep",), 1),))
        return Task(student, UNIT, "", program, reason)

    against = [last_year("ada", ANSWER), last_year("eve", OTHER), last_year("fay", OTHER)]
    lines = [line("ada", "x"), line("bob", RENAMED)]
    page = write_originality(lines, [source], tmp_path, against).read_text()
    assert "another class:\nada" in page and "bob" in page and "1 group" in page
    assert "class:\neve" not in page and "class:\nfay" not in page, "not with each other"
    assert "also with 3 of another class" in page
    unread = [last_year("ada", ANSWER, "It cannot be read.")]
    assert "No two" in write_originality(lines, [source], tmp_path, unread).read_text()


def test_a_class_of_three_hundred_is_compared_without_all_pairs(monkeypatch):
    """The work grows with what is shared, not with the square of the class."""
    looked_at = []

    def counted(people, size):
        found = list(combinations(people, size))
        looked_at.extend(found)
        return found

    monkeypatch.setattr(room, "combinations", counted)
    shapes = {}
    for n in range(300):
        own = "\n".join(f"    a{k} = f{n}_{k}(graph.x{k}, {n * k})" for k in range(12))
        shapes[f"s{n:03}"] = code_shape(f"{SWEEP}def sweep(graph):\n{own}\n    return graph")
    shapes["s007"] = shapes["s100"]
    pairs = similar("u99.sweep", {k: v for k, v in shapes.items() if v}, set())
    assert [pair.students for pair in pairs] == [("s007", "s100")] and pairs[0].shared >= LEAST
    assert set(looked_at) == {("s007", "s100")}, "of 44,850 pairs one shares anything"


# --- both in a browser ---------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_in_a_browser(scheme, tmp_path, source, browser):
    lines = [
        line("ada", ANSWER, PASSED),
        line("bob", RENAMED),
        line("cyd", RENAMED, program="x" * 500),
    ]
    write_statistics(lines, tmp_path)
    write_originality(lines, [source], tmp_path)
    for name in ("statistics", "originality"):
        for width in (360, 1200):
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto((tmp_path / f"{name}.html").as_uri())
            assert len(asked) == 1, "the page fetches nothing"
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator("svg:not([aria-label])").count() == 0
            assert page.locator("script").count() == 0 and page.locator("h1").count() == 1
            dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (dark == "rgb(255, 255, 255)") == (scheme == "light")
            page.close()
