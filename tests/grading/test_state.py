"""State in other cells: an answer sees what it sees in a notebook that runs from top to bottom."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import pytest

from autograder.grading.program import read
from autograder.text.reads import reads

ANSWER = '@implements("u99.sweep")\ndef sweep(): return {}'
MEMO = ANSWER.format("memo")
COUNT = ANSWER.format("count")

SHAPES = {
    "reads_itself": ["count = 1", "count = count + 1", COUNT],
    "adds_to_itself": ["count = 1", "step = 2", "count += step\nstep = 0", COUNT],
    "copies_its_table": ["table = {'add': 2}", "table = dict(table, relu=3)",
                         ANSWER.format("table")],
    "is_made_if_there_is_none": ["memo = {}\nmemo['a'] = 1", "memo = memo or {}", MEMO],
    "assigns_what_it_reads_beside_it": [
        "names = ['a']", "def helper(names): return [*names, 'b']",
        "names, memo = helper(names), {len(names): names}", MEMO],
    "swaps": ["one, other = 1, 2", "one, other = other, one", ANSWER.format("one")],
    "reads_a_list_that_it_renews": ["rows = [1]", "rows, memo = [], rows + [2]", MEMO],
    "adds_in_the_middle": ["count = 1", "memo = [(count := count + 1), count]", MEMO],
    "adds_in_a_comprehension": [
        "count = 1", "memo = [count := count + n for n in (1, 2)]", MEMO],
    "adds_in_a_condition": ["count = 1", "if (count := count + 1) > 1:\n    memo = count", MEMO],
    "adds_and_keeps": ["count = 1", "if True:\n    count += 1\n    memo = count", MEMO],
    "deletes_and_begins_again": [
        "rows = [1]", "if True:\n    memo = rows\n    del rows\n    rows = [2]", MEMO],
    "deletes_first": ["rows = [1]\nmemo = 1", "if True:\n    del rows\n    memo = 2", MEMO],
    "rebinds_in_a_branch": [
        "names = ['a']\nfast = False",
        "if fast:\n    names = []\nelse:\n    memo = names\n    names = None", MEMO],
    "rebinds_perhaps": ["names = ['a']", "if not names:\n    names = ['b']", "memo = len(names)",
                        MEMO],
    "rebinds_perhaps_and_reads": [
        "names = ['a']", "if True:\n    if not names:\n        names = ['b']\n    memo = names",
        MEMO],
    "rebinds_in_a_loop": [
        "rows = [1, 2]", "for row in rows:\n    rows = [row]\n    memo = rows", MEMO],
    "adds_in_a_loop": [
        "count = 1", "for step in (1, 2):\n    count = count + step\n    memo = count", MEMO],
    "reads_what_an_empty_loop_would_give": [
        "row = 5", "if True:\n    for row in (): pass\n    memo = row", MEMO],
    "goes_on_while": [
        "count = 1", "while True:\n    memo = count\n    count += 1\n    if count > 3: break",
        MEMO],
    "tries": [
        "rows = [3]",
        "try:\n    rows = unknown\nexcept NameError:\n    memo = rows\nrows = []", MEMO],
    "matches": ["rows = [3]", "match rows:\n    case [rows, *rest]: memo = rows", MEMO],
    "matches_a_name": ["memo = 0", "match [1, 2]:\n    case [memo, *_]: pass", MEMO],
    "opens": ["import contextlib\nrows = [3]",
              "with contextlib.nullcontext(rows) as rows:\n    memo = rows", MEMO],
    "wraps_its_function": [
        "def helper(): return 1",
        "old = helper\ndef helper(): return old() + 1", ANSWER.format("helper()")],
    "extends_its_class": [
        "class Rules: one = 1", "class Rules(Rules): two = 2", ANSWER.format("Rules.one")],
    "reads_in_a_class_what_it_renews": [
        "names = [1]", "class Rules: names = names + [2]", ANSWER.format("Rules.names")],
    "decorates": [
        "def twice(f): return lambda: 2 * f()\ncount = 3",
        "@twice\ndef twice(): return count", ANSWER.format("twice()")],
    "calls_before_it_renews": [
        "names = [1]", "def now(): return list(names)",
        "if True:\n    memo = now()\n    names = []", MEMO],
    "has_a_default": [
        "names = [1]", "def names(given=names): return given", ANSWER.format("names()")],
    "has_a_default_for_a_keyword": [
        "names = [1]", "def names(*, given=names): return given", ANSWER.format("names()")],
    "hands_it_to_a_function_that_changes_it": [
        "names = ['a']", "def add(rows):\n    rows.append('b')\n    return len(rows)",
        "size = add(names)", ANSWER.format("names")],
    "hands_it_on": [
        "names = ['a']", "def add(rows): rows[0] = 'b'",
        "def twice(rows):\n    add(rows)\n    return 2", "size = twice(rows=names)",
        ANSWER.format("names")],
    "in_the_answers_cell_adds": ["count = 1", "count = count + 1\n" + COUNT],
    "in_the_answers_cell_adds_shortly": ["count = 1", "count += 1\n" + COUNT],
    "in_the_answers_cell_wraps": [
        "def helper(): return 1",
        "old = helper\ndef helper(): return old() + 1\n" + ANSWER.format("helper()")],
    "in_the_answers_cell_rebinds_perhaps": [
        "names = ['a']", "if not sys:\n    names = ['b']\n" + ANSWER.format("names")],
    "in_the_answers_cell_calls_before_it_renews": [
        "names = [1]",
        "def now(): return list(names)\nmemo = now()\nnames = []\n" + MEMO],
    "in_the_answers_cell_deletes": [
        "def helper(): return 1", "memo = helper()\ndel helper\n" + MEMO],
}  # fmt: skip


def returned(cells: Iterable[str]) -> Any:
    """What the answer returns when these cells have run, each as far as it goes."""
    found: dict[str, Any] = {}
    names: dict[str, Any] = {"sys": 1, "implements": lambda _: lambda f: found.setdefault("f", f)}
    for cell in cells:
        with contextlib.suppress(Exception):
            exec(cell, names)
    return found["f"]()


@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_sees_the_state_of_its_notebook(shape, notebook):
    cells = SHAPES[shape]
    program = read(notebook(*cells))
    assert returned(cell.source for cell in program.cells) == returned(cells)


ITS_OWN = {
    "counts": "count = 1\nmemo = count",
    "unpacks": "count, memo = 1, 2\nmemo = count",
    "loops": "for count in (1, 2):\n    memo = count",
    "comprehends": "memo = [count for count in (1, 2)]",
    "comprehends_in_two_steps": "memo = [count for rows in [[1]] for count in rows if rows]",
    "names_it_in_a_test": "if (count := 1): memo = count",
    "makes_it_in_both_branches": "if 1 < 2:\n    count = 1\nelse:\n    count = 2\nmemo = count",
    "makes_it_or_says_why_not": "if 1 < 2: count = 1\nelse: raise ValueError\nmemo = count",
    "makes_it_however_it_ends": "try: count = 1\nexcept OSError: count = 2\nmemo = count",
    "opens": "with open('x') as count:\n    memo = count",
    "catches": "try:\n    memo = 1\nexcept ValueError as count:\n    print(count)",
    "imports": "import math as count\nmemo = count",
    "defines": "def count(): return 1\nmemo = count()",
    "defines_below": "def memo(): return count\ncount = 1",
    "defines_inside": "def memo():\n    count = 1\n    count += 1\n    return count",
    "takes_it": "memo = lambda count: count + 1",
    "takes_it_by_name": "def memo(*, count, **rest): return count",
    "recurses": "def count(): return count()\nmemo = count",
    "has_it_in_a_class": "class memo:\n    count = 1\n    total = count",
    "matches": "match [1]:\n    case [count]: memo = count",
}


@pytest.mark.parametrize("shape", ITS_OWN)
def test_what_code_gives_a_name_itself_is_not_asked_of_other_cells(shape):
    assert "count" not in reads(ITS_OWN[shape])


def test_a_lesson_that_uses_the_same_names_for_something_else_is_left_out(notebook):
    lesson = "for count in slow():\n    total = count"
    answer = "count = 1\ncount += 1\nfor total in range(3): count += total\n" + COUNT
    assert [cell.source for cell in read(notebook(lesson, answer)).cells] == [answer]
