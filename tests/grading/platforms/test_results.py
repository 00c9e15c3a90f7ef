"""What a student may see of a verdict, and when; and that a text does nothing but be read."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    GRADER,
    NOT_ATTEMPTED,
    PASSED,
    STUB,
    UNGRADABLE,
    WRONG,
    Verdict,
)
from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from autograder.grading.platforms.markdown import as_markdown
from autograder.grading.platforms.open_part import has_few_answers
from autograder.grading.platforms.results import (
    classroom,
    gradescope,
    nothing_graded,
    summary,
    write_output,
)
from autograder.grading.platforms.single import told
from autograder.grading.report import Report
from course_lib.exercises import slot

SECRET = "graph @secret(%x: f32[2])"
RIGHT = Verdict("passes.dce", PASSED, 3, 3.0, tried=("40 random programs",))
HIDDEN = Verdict("passes.cse", WRONG, 3, hidden=True, about="The outputs are the same.",
                 problem="%y differs", program=SECRET + "\n  return %x", got="1", expected="2",
                 printed="print of the secret", error="ValueError: the secret")  # fmt: skip
FEW = Verdict("u02.broken", WRONG, 2, problem="It is not constant folding.")
WORDS = Verdict("u02.zero", BY_HAND, 2, None)
BONUS = Verdict("u02.every_pass", PASSED, 1, 1.0, further=True)


def report(*verdicts: Verdict, **more: Any) -> Report:
    return replace(
        Report("u02_rewrites", 2, "a" * 64, "b" * 64, 77, "bubblewrap", verdicts), **more
    )


EVERYTHING = report(RIGHT, HIDDEN, FEW, WORDS, BONUS, notes=("2 files answer <b>this</b>",))


def at_once(results: dict[str, Any]) -> str:
    """All that Gradescope shows a student before grades are published."""
    tests = [test for test in results["tests"] if test["visibility"] == "visible"]
    return json.dumps([results["output"], tests])


def test_what_a_hidden_check_has_found_is_shown_when_grades_are_published():
    results = gradescope(EVERYTHING)
    shown, whole = at_once(results), json.dumps(results)
    for secret in ("secret", "%y differs", "constant folding", "77"):
        assert secret not in shown, secret
    assert "@secret" in whole and "constant folding" in whole and ": 77" not in whole
    assert "The outputs are the same" in shown and "only the grader has" in shown
    later = [test for test in results["tests"] if test["visibility"] == "after_published"]
    assert [test["number"] for test in later] == ["2.2", "3.2"]
    assert [test.get("score") for test in later] == [None, 0.0], "the other has shown its score"


def test_the_points_that_are_said_do_not_give_away_the_one_right_answer():
    for kind, earned in ((WRONG, 0.0), (PASSED, 2.0)):
        guessed = replace(FEW, kind=kind, earned=earned)
        results = gradescope(report(RIGHT, guessed))
        assert results["score"] == 3 + earned, "the teacher's"
        assert "3 of 3 points" in results["output"] and "2 more are judged" in results["output"]
    one, other = (
        report(RIGHT, replace(FEW, kind=k, earned=e)) for k, e in ((WRONG, 0), (PASSED, 2))
    )
    assert at_once(gradescope(one)) == at_once(gradescope(other))
    assert summary(one) == summary(other) and told(one) == told(other)
    assert classroom(one) == classroom(other)


def test_every_exercise_with_few_answers_is_found():
    page = (COURSE / "docs" / "instructors.md").read_text(encoding="utf-8")
    listed = page[page.index('"judged when it is graded"') :].partition(". In the open edition")[0]
    named = set(re.findall(r"`(u\d\d\.\w+)`", listed))
    units = ("u01", "u02", "u05", "u06", "u17")  # to load the checks of all takes seconds
    every = [
        n for unit in units for s in sources(COURSE / "notebooks", unit) for n in s.exercises()
    ]
    found = {n for n in every if slot(n).kind != "explain" and has_few_answers(n)}
    assert found == {name for name in named if name[:3] in units} and len(found) > 10


def test_a_page_for_a_job_shows_the_open_part_and_no_more():
    for text in (summary(EVERYTHING), told(EVERYTHING)):
        assert "secret" not in text and "constant folding" not in text
        assert "only the grader has" in text and "40 random programs" in text
    page = MarkdownIt("commonmark").enable("table").render(summary(EVERYTHING))
    assert "<table>" in page and "<b>" not in page and "<td><code>passes.dce</code></td>" in page


def test_classroom_adds_up_what_is_certain(tmp_path: Path):
    write_output(EVERYTHING, tmp_path / "output")
    name, _, encoded = (tmp_path / "output").read_text().strip().partition("=")
    result = json.loads(base64.b64decode(encoded))
    assert name == "result" and result["max_score"] == 6 and result["status"] == "fail"
    assert [(t["name"], t["score"], t["status"]) for t in result["tests"]] == [
        ("passes.dce", 3, "pass"), ("passes.cse", 0, "fail"), ("u02.every_pass", 1, "pass"),
    ]  # fmt: skip
    assert classroom(report(RIGHT, WORDS))["status"] == "pass"


def test_what_a_person_decides_has_no_score_and_is_no_failure():
    fault = Verdict("passes.fold", GRADER, 3, None, problem="Traceback: a path of the grader")
    results = gradescope(report(WORDS, fault))
    assert results["score"] == 0 and not any({"score", "status"} & set(t) for t in results["tests"])
    assert "Traceback" not in json.dumps(results), "what broke is for the teacher"


def test_a_file_that_cannot_be_graded_says_what_to_hand_in():
    why = "The file was cut off."
    lost = report(Verdict("passes.dce", UNGRADABLE, 3, None, problem=why), notes=(why,))
    for text in (gradescope(lost)["tests"][0]["output"], summary(lost)):
        assert "cut off" in text and "ipynb" in text
    assert gradescope(lost)["score"] == 0 and classroom(lost)["status"] == "fail"
    assert nothing_graded("it is Monday.")["output"].startswith("Nothing was graded: it is Monday")


@pytest.mark.parametrize("evil", [
    "</pre><script>alert(1)</script>", "```\n<img src=x onerror=alert(1)>\n```",
    "````text\n# big", "[here](javascript:alert(1)) ![x](http://a.b/c)", "`a` ``` `<b>`",
])  # fmt: skip
def test_what_a_student_prints_does_nothing(evil: str):
    fields: dict[str, Any] = dict.fromkeys(("problem", "error", "printed", "got", "spec"), evil)
    for kind in (WRONG, CRASHED):
        text = as_markdown(Verdict("passes.dce", kind, 3, expected="x", **fields))
        page = MarkdownIt("commonmark", {"html": True}).render(text)
        assert not re.search(r"<(?!/?(p|pre|code|strong|br|em)\b)", page), page
        assert page.count("alert") == text.count("alert")


def test_an_empty_answer_reads_well():
    text = as_markdown(Verdict("passes.dce", NOT_ATTEMPTED, 3, problem=STUB))
    assert text.startswith("Its cell still holds the empty stub") and '`hint("passes.dce")`' in text
