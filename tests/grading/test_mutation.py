"""Our answers with one thing changed: what is changed, and what is said of those that pass."""

from __future__ import annotations

import ast
import time

import pytest

from autograder.__main__ import main
from autograder.check import exemplars
from autograder.check.exemplars import equivalent
from autograder.soundness import borrowed, mutation
from autograder.soundness.apart import apart
from autograder.soundness.exercise import exemplars as exemplars_of
from autograder.soundness.mutation import mutate
from autograder.soundness.operators import Names, changes
from autograder.soundness.reference import (
    Changed,
    Steps,
    can_be_changed,
    changed,
    loaded,
    source_of,
)
from autograder.soundness.verdicts import verdict_of
from autograder.validate import survivors, validate
from course_lib.exercises import slot


def changed_lines(text: str, names: Names = Names()) -> set[str]:  # noqa: B008
    """Every change of a function of one line, as that line."""
    function = ast.parse(text).body[0]
    found = set()
    for _ in changes(function, names):
        found.add("; ".join(ast.unparse(function).split("\n    ")[1:]))
    assert ast.unparse(function) == ast.unparse(ast.parse(text)), "every change is undone"
    return found


@pytest.mark.parametrize(
    "line, expected",
    [
        ("a < b and c", {"a < b or c", "c", "a < b", "a <= b and c", "a > b and c"}),
        ("a in b", {"a not in b"}),
        ("a - b", {"a + b", "b - a"}),
        ("f(a, k=1)", {"f(a)", "f(a, k=2)", "f(a, k=0)"}),
        ("f(a, b)", {"f(b, a)"}),
        ("any(a)", {"all(a)"}),
        ("sorted(a)", {"a", "sorted(a, reverse=True)"}),
        ("[a, b]", {"[a]", "[b]", "[b, a]"}),
        ("{a: b}", {"{}"}),
        ("a[1:]", {"a[:]", "a[2:]", "a[0:]"}),
        ("a if b else c", {"a", "c", "a if not b else c"}),
        ("not a", {"a"}),
        ("True", {"False"}),
        ("0.0", {"1.0", "-1.0"}),
        ("[a for a in b if a]", {"[a for a in b]", "[a for a in b if not a]"}),
        ("'add'", {"'sub'"}),
        ("a.first", {"a.last"}),
        ("a * b", {"a", "b"}),
        ("a - 1", {"a"}),
        ("a[:n]", {"a[:n + 1]", "a[:n - 1]"}),
        ("enumerate(a)", {"enumerate(a, 1)"}),
        ("a.get(b, c)", {"a.get(b)", "a.get(c, b)"}),
        ("set(a)", {"a"}),
        ("a.copy()", {"a"}),
        ("any(a for a in b)", {"any((a for a in list(b)[1:]))", "any((a for a in list(b)[:-1]))"}),
    ],
)
def test_operators(line, expected):
    names = Names({"add": "sub"}, {"first": ("last",)})
    made = changed_lines(f"def f():\n    return {line}", names)
    assert made >= {f"return {text}" for text in expected} | {"pass"}


def test_operators_on_statements():
    made = changed_lines("def f(x):\n    for y in x:\n        continue")
    assert {"pass", "for y in x:;     break", "for y in x:;     pass"} <= made
    assert "for y in reversed(list(x)):;     continue" in made
    made = changed_lines("def f(x):\n    if x:\n        raise ValueError('no')")
    assert {"pass", "if not x:;     raise ValueError('no')", "raise ValueError('no')"} <= made
    assert "if x:;     raise ArithmeticError('no')" in made
    made = changed_lines("def f(x):\n    x += 1\n    return x")
    assert {"x = 1; return x", "x -= 1; return x", "pass; return x"} <= made
    made = changed_lines("def f(x):\n    for y in x:\n        g(y)")
    assert {"for y in list(x)[1:]:;     g(y)", "for y in list(x)[:-1]:;     g(y)"} <= made
    made = changed_lines("def f(x):\n    while x:\n        g()")
    assert "if x:;     g()" in made
    made = changed_lines("def f(x):\n    if x:\n        g()\n    else:\n        h()")
    assert "if x:;     g()" in made
    made = changed_lines("def f(x):\n    x[0] = 1\n    x.setdefault(2, 3)\n    x.append(4)")
    assert "x.setdefault(0, 1); x.setdefault(2, 3); x.append(4)" in made
    assert "x[0] = 1; x[2] = 3; x.append(4)" in made
    assert "x[0] = 1; x.setdefault(2, 3); x.insert(0, 4)" in made
    made = changed_lines("def f(x):\n match x:\n  case 1:\n   g()\n  case 2 if h:\n   k()")
    assert any("case 1" not in text for text in made)
    assert any("case 2:" in text for text in made)


def test_texts_of_errors_annotations_and_assertions_stay():
    text = "def f(x: 1 = 2) -> 3:\n    y: 4 = x\n    assert y < 1\n    raise ValueError(f'{y + 1}')"
    assert changed_lines(text) == {
        line.replace("raise ValueError(f'{y + 1}')", new)
        for line in ["y: 4 = x; assert y < 1; raise ValueError(f'{y + 1}')"]
        for new in ("pass", "raise ArithmeticError(f'{y + 1}')")
    }


def test_every_answer_that_takes_something_is_changed():
    takes = ["u99.sweep", "u00.intensity", "u00.claims", "u00.busy", "passes.should_fuse"]
    assert all(can_be_changed(slot(name)) for name in takes)
    takes_nothing = ["u99.bytes", "u00.batch", "u04.first_fit_wins"]
    assert not any(can_be_changed(slot(name)) for name in takes_nothing)


def test_helpers_of_the_answer_are_changed_too_and_each_change_comes_once():
    found = changed(slot("u99.sweep"))
    assert any("topological_order" in one.old for one in found), "in _needed, a private helper"
    assert len({one.source for one in found}) == len(found)
    assert all(one.old != one.new and one.line > 0 for one in found)


def test_our_answer_from_its_source_earns_everything_and_its_steps_are_counted():
    entry, steps = slot("u99.sweep"), Steps()
    verdict = verdict_of(entry, loaded(entry, source_of(entry), steps))
    assert verdict.earned == entry.points and steps.taken > 100
    stopped = verdict_of(entry, loaded(entry, source_of(entry), Steps(limit=10)))
    assert stopped.kind == "timed out"


def test_the_report_is_the_same_in_any_number_of_processes():
    entry = slot("u99.sweep")
    assert mutate([entry], jobs=1) == mutate([entry], jobs=2)


def test_a_survivor_is_shown_until_it_is_explained(monkeypatch):
    monkeypatch.setattr(exemplars, "_equivalents", {})
    report = mutate([slot("u99.until")], jobs=1)["u99.until"]
    assert report.mutants == report.killed + len(report.survivors)
    one = next(s for s in report.survivors if "is not" in s.old)
    lines = survivors(report)
    assert any(line.startswith(f"line {one.line} passes: equivalent(") for line in lines)

    equivalent("u99.until", *one.fragments(), because="a test says so")
    equivalent("u99.until", "no such line", "at all", because="it is stale")
    after = mutate([slot("u99.until")], jobs=1)["u99.until"]
    assert one not in after.survivors and one in [known for known, _ in after.equivalent]
    assert [entry.old for entry in after.stale] == ["no such line"]
    assert any("any more" in line for line in survivors(after))


def test_an_equivalent_needs_a_reason():
    with pytest.raises(ValueError, match="a reason"):
        equivalent("u99.until", "a", "b", because=" ")


def test_several_changes_have_one_reason(monkeypatch):
    monkeypatch.setattr(exemplars, "_equivalents", known := {})
    equivalent("u99.until", "a", "b", "c", "d", because="both say the same")
    assert [(e.old, e.new) for e in known["u99.until"]] == [("a", "b"), ("c", "d")]
    with pytest.raises(ValueError):
        equivalent("u99.until", "a", "b", "c", because="what c becomes is missing")


ENDINGS = {
    "leaves": "import os; os._exit(0)",
    "aborts": "import os; os.abort()",
    "reads_nowhere": "import ctypes; ctypes.string_at(0)",
    "is_killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_changed_answer_that_ends_its_process_is_killed_and_the_others_are_judged(
    ending, monkeypatch
):
    entry = slot("u99.until")
    before = mutate([entry])["u99.until"]
    source = f"def until(*given):\n    {ENDINGS[ending]}"
    deadly = Changed("u99.until", 1, "pass", ENDINGS[ending], source)
    answers = [deadly, *changed(entry), deadly]
    monkeypatch.setattr(mutation, "changed", lambda entry: answers)
    for jobs in (1, 2):
        after = mutate([entry], jobs=jobs)["u99.until"]
        assert after.killed_by == {mutation.ENDED: 2, **before.killed_by}
        assert after.survivors == before.survivors and after.equivalent == before.equivalent


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_mutant_that_ends_its_process_is_rejected_and_said_in_the_table(ending, monkeypatch):
    entry = slot("u99.until")
    names: dict = {}
    exec(f"def until(*given):\n    {ENDINGS[ending]}", names)
    before = exemplars_of(entry)
    ends = {"first": names["until"], **exemplars.mutants_of("u99.until"), "last": names["until"]}
    monkeypatch.setitem(exemplars._mutants, "u99.until", ends)
    after = exemplars_of(entry)
    assert (after.wrong, after.rejected) == (before.wrong + 2, before.rejected + 2)
    assert after.ended == ("first", "last") and after.problems == before.problems
    (row,) = validate(exercises=["u99.until"])
    assert "\n    the mutant first is rejected: its process ended" in str(row)
    assert not any("first" in problem for problem in row.problems)


def test_validate_looks_at_each_exercise_that_it_is_given_and_at_no_other(monkeypatch, capsys):
    monkeypatch.setattr(borrowed, "_callable", lambda unit: ())
    assert main(["validate", "--exercise", "u99.why", "--exercise", "u99.dead"]) == 1
    head, *rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows if row.startswith("u")] == ["u99.why", "u99.dead"]
    assert main(["validate", "--exercise", "u99.why", "--exercise", "u99.ded"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [head], "nothing is looked at before all names are known"
    assert "Did you mean 'u99.dead'?" in err


def test_an_error_of_ours_is_no_verdict_on_an_answer():
    with pytest.raises(ZeroDivisionError):
        list(apart(divide, [1, 0, 2], 2))
    assert list(apart(divide, [1, 2, 4], 2)) == [1, 0.5, 0.25]
    assert list(apart(divide, [], 2)) == []


def test_one_that_does_not_come_back_is_ended():
    assert list(apart(sleep_or_not, [False, True, False], 2, patience=3)) == [1, None, 1]


def divide(number: int) -> float:
    return 1 / number


def sleep_or_not(sleeps: bool) -> int:
    time.sleep(600 * sleeps)
    return 1
