"""What is taken out of a notebook file, however it was made."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.program import Program, Unreadable, read

ANSWER = '@implements("u99.sweep")\ndef f(g): return helper(g)'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def sources(program: Program) -> list[str]:
    return [cell.source for cell in program.cells]


def test_only_answers_and_what_they_need_are_taken(notebook):
    program = read(
        notebook(
            "import numpy as np\nimport torch",
            "model = torch.load('large')",
            "def helper(g): return other(g, np)",
            "def unrelated(): ...",
            ANSWER,
            "other = max\nresult = helper(1)",
        )
    )
    assert sources(program) == [
        "import numpy as np",
        "def helper(g):\n    return other(g, np)",
        ANSWER,
        "other = max",
    ]


def test_parameter_is_no_free_name(notebook):
    cell = '@implements("u99.sweep")\ndef f(graph): return graph'
    assert sources(read(notebook("graph = slow()", cell))) == [cell]


def test_changes_of_a_helper_come_along(notebook):
    cell = '@implements("u99.sweep")\ndef f(g): return rules'
    program = read(notebook("rules = []", "rules.append(1)", "rules[0] = 2", "print(rules)", cell))
    assert sources(program) == ["rules = []", "rules.append(1)", "rules[0] = 2", cell]


def test_what_reuses_a_name_below_the_check_is_left_out(notebook):
    answer = '@implements("x.y")\ndef f(g): return rules'
    below = "for rules in slow():\n    rules.append(1)"
    cells = ["rules = [1]", answer, "rules = [2]", 'check("x.y")', below]
    assert sources(read(notebook(*cells))) == ["rules = [1]", answer, "rules = [2]"]
    assert read(notebook(*cells)).cells[-1].checked == ("x.y",)
    assert sources(read(notebook(answer, 'check("x.y")', below)))[-1] == below


def test_too_many_answers_are_said(notebook):
    with pytest.raises(Unreadable, match="100 cells"):
        read(notebook(*[ANSWER] * 101))


def test_compound_statements_come_along(notebook):
    loop = "for name in names:\n    table[name] = 1"
    program = read(notebook("table = {}\nnames = 'ab'", loop, '@implements("x.y")\nf = table.get'))
    assert sources(program)[:3] == ["table = {}", "names = 'ab'", loop]


def test_calls_for_their_effect_come_along(notebook):
    rule = "def rule(f):\n    RULES.append(f)\n    return f"
    live = "@rule\ndef live():\n    pass"
    fill = "def fill(table):\n    table.append(1)"
    answer = '@implements("x.y")\ndef f(g):\n    return RULES, TABLE'
    demo = "print(RULES)\nshow(TABLE)"
    program = read(
        notebook("RULES = []\nTABLE = []", rule, live, fill, "fill(TABLE)", demo, answer)
    )
    assert sources(program) == [
        "RULES = []", "TABLE = []", rule, live, fill, "fill(TABLE)", answer,
    ]  # fmt: skip


def test_what_shows_something_is_left_out_though_the_answer_has_builtin_names_too(notebook):
    helper = "def slow(kind, rows):\n    return len(rows)"
    show = "slow(str, range(10**9))"
    answer = '@implements("x.y")\ndef f(name: str) -> list[int]:\n    return list(range(3))'
    assert sources(read(notebook(helper, show, answer))) == [answer]
    mine = "list = [1]"
    again = "slow(list, [])"
    assert sources(read(notebook(helper, mine, again, answer))) == [helper, mine, again, answer]


def test_magics_inside_of_python(notebook):
    program = read(
        notebook("for i in 'ab':\n    %time 1\nfiles = !ls\nx?\ny = 5 % 3  # is it?\n" + ANSWER)
    )
    wanted = "for i in 'ab':\n    1\npass\npass\ny = 5 % 3  # is it?\n" + ANSWER
    assert sources(program) == [wanted]


def test_too_much_code_is_said(notebook):
    with pytest.raises(Unreadable, match="more than 200,000 characters"):
        read(notebook(ANSWER, "x = 1\n" * 40_000))


def test_a_file_of_very_many_lists_is_not_read():
    lists = b"[" + b"[]," * 1_000_000 + b"[]]"
    with pytest.raises(Unreadable, match="lists"):
        read(b'{"cells": [], "metadata": ' + lists + b"}")


def test_line_numbers_survive_magics(notebook):
    program = read(notebook("%%needs u99.sweep\n%matplotlib inline\n!ls\n" + ANSWER))
    assert program.cells[-1].source.splitlines()[3].startswith("@implements")


def test_foreign_cells_are_not_python(notebook):
    assert read(notebook('%%bash\necho implements("u99.sweep")')).cells == ()


def test_what_the_file_looks_like_changes_no_digest(notebook):
    first = json.loads(notebook("x = 1", ANSWER))
    for cell in first["cells"]:
        cell.update(execution_count=3, outputs=[{"output_type": "stream", "text": "hi"}], id="z")
        cell["source"] = cell["source"].splitlines(True)
    assert read(json.dumps(first).encode()).digest == read(notebook("x = 1", ANSWER)).digest
    assert (
        read(notebook("x = 1", ANSWER + "  # new")).digest != read(notebook("x = 1", ANSWER)).digest
    )


def test_two_answers_are_noted(notebook):
    program = read(notebook(ANSWER, ANSWER))
    assert program.notes == ("u99.sweep is answered in 2 cells; the last one that runs counts",)


TITLE = {
    "cell_type": "markdown",
    "source": "#### Exercise `u99.why` · 2 points",
    "id": "u99-why-title",
}
STUB = {"cell_type": "markdown", "source": "*Write your answer here.*", "id": "u99-why"}
MINE = {"cell_type": "markdown", "source": "Because.", "id": "u99-why"}
PROSE = {"cell_type": "markdown", "source": "## The bill", "id": "c-0123456789ab"}
NEXT = {"cell_type": "markdown", "source": "#### Exercise `u99.x` · 1 point", "id": "u99-x-title"}
CODE = {"cell_type": "code", "source": "print(1)"}


def more(text: str) -> dict:
    """A Markdown cell that a student added."""
    return {"cell_type": "markdown", "source": text, "id": "6f9619ff"}


def bare(cell: dict) -> dict:
    """The cell as an editor leaves it that drops ids."""
    return {key: value for key, value in cell.items() if key != "id"}


def why(*cells: dict) -> tuple[str, bool]:
    """The explanation that is handed in, and whether a note says that its cell is gone."""
    data = json.dumps({"cells": cells}).encode()
    program = read(data, ["u99.why"], prose={"## The bill"})
    return program.texts.get("u99.why", ""), "u99.why: its cell was deleted" in str(program.notes)


def test_explanation_is_found_by_id_or_by_its_heading():
    title = {"cell_type": "markdown", "source": "#### Exercise `u99.why` · 2 points"}
    text = {"cell_type": "markdown", "source": "Because."}
    named = {**text, "id": "u99-why"}
    stub = {"cell_type": "markdown", "id": "u99-why", "source": "*Write your answer here.*"}
    for cells, expected in (
        ([named], {"u99.why": "Because."}),
        ([title, text], {"u99.why": "Because."}),
        ([title, stub], {}),
        ([text], {}),
    ):
        assert read(json.dumps({"cells": cells}).encode(), ["u99.why"]).texts == expected


@pytest.mark.parametrize("follower", [PROSE, bare(PROSE), NEXT, bare(NEXT), CODE])
def test_a_deleted_explanation_is_empty_and_never_the_next_cells_text(follower):
    assert why(TITLE, follower) == ("", True)
    assert why(bare(TITLE), follower, CODE) == ("", True)
    assert why(TITLE, STUB, follower) == ("", False)
    assert why(TITLE) == why(follower) == ("", True)


def test_a_hundred_thousand_copies_are_each_looked_at_once():
    assert why(TITLE, *[STUB] * 100_000, MINE) == ("Because.", False)
    assert why(*[TITLE, MINE] * 30_000) == ("Because.", False)


@pytest.mark.parametrize("follower", [PROSE, bare(PROSE), NEXT, bare(NEXT), CODE])
def test_all_that_a_student_wrote_as_an_explanation_is_read(follower):
    assert why(TITLE, more("Because."), follower) == ("Because.", False), "in a cell of their own"
    assert why(TITLE, STUB, more("Because."), follower) == ("Because.", False), "below the stub"
    assert why(TITLE, MINE, more("So."), follower) == ("Because.\n\nSo.", False), "split"
    assert why(TITLE, MINE, {**MINE, "source": "So."}, follower) == ("Because.\n\nSo.", False)
    assert why(TITLE, MINE, STUB, follower) == ("Because.", False), "copied before it was written"
    assert why(TITLE, MINE, MINE, follower) == ("Because.", False), "copied afterwards"
    assert why(follower, MINE, TITLE) == ("Because.", False), "moved"
    assert why(TITLE, {**MINE, "cell_type": "code"}, follower) == ("Because.", False)


def test_old_notebook_format(notebook):
    cells = [{"cell_type": "code", "input": [ANSWER], "outputs": []}]
    old = {"worksheets": [{"cells": cells}], "nbformat": 3}
    assert sources(read(json.dumps(old).encode())) == [ANSWER]


def test_program_is_plain_data(notebook):
    program = read(notebook("def helper(g): ...", ANSWER))
    assert Program.from_json(json.loads(json.dumps(program.to_json()))) == program


BROKEN = {
    "empty": b"",
    "no_json": b"<html>",
    "cut": b'{"cells": [{"cell_type": "code"',
    "not_text": bytes(range(256)),
    "no_cells": b"{}",
    "cells_are_text": b'{"cells": "all"}',
    "list": b"[]",
    "deep": b"[" * 200_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_said_in_words(name):
    with pytest.raises(Unreadable, match="not a notebook"):
        read(BROKEN[name])


def test_file_that_is_too_large_is_said():
    with pytest.raises(Unreadable, match="Clear its outputs"):
        read(bytes(21 << 20))


INDIGESTIBLE = {
    "deep_parentheses": "x = " + "(" * 5000 + ")" * 5000,
    "long_sum": "helper = " + "+".join(["1"] * 20_000),
    "null_byte": "helper = '\0'",
    "lone_surrogate": "helper = '\ud800'",
    "not_python": "helper = = 1",
    "many_statements": "\n".join(f"helper = a{n}" for n in range(3000)),
}


@pytest.mark.parametrize("name", INDIGESTIBLE)
def test_indigestible_cell_costs_nothing(name, notebook):
    start = time.process_time()
    program = read(notebook(INDIGESTIBLE[name], ANSWER, INDIGESTIBLE[name] + "\n" + ANSWER))
    assert program.cells and program.answers == {"u99.sweep"}
    assert time.process_time() - start < 20


@given(JSON)
def test_any_json_is_read_or_refused(content):
    for value in (content, {"cells": content}, {"cells": [content]}, {"worksheets": content}):
        try:
            read(json.dumps(value).encode(), ["u99.why"])
        except Unreadable as error:
            assert "notebook" in str(error)


def test_a_call_that_is_handed_a_built_in_changes_nothing_that_an_answer_reads(notebook):
    """`show(len(RULES))` may change RULES, but never what `len` means."""
    shown = "def show(x): print(x)\nTABLE = [1]\nshow(len(TABLE))"
    answer = '@implements("u99.sweep")\ndef sweep(graph): return len(graph.nodes)'
    assert [c.source for c in read(notebook(shown, answer)).cells if not c.answers] == []
    uses = '@implements("u99.sweep")\ndef sweep(graph): return len(TABLE)'
    taken = [c.source for c in read(notebook(shown, uses)).cells if not c.answers]
    assert "show(len(TABLE))" in taken and "TABLE = [1]" in taken


def test_variables_of_a_comprehension_stay_inside(notebook):
    answer = '@implements("u99.sweep")\ndef sweep(graph): return n'
    cells = ["n = 2", "total = sum(n for n in slow())", answer]
    assert sources(read(notebook(*cells))) == ["n = 2", answer]
    walrus = "found = [(n := 3) for _ in range(2)]"
    assert sources(read(notebook("n = 2", walrus, answer))) == ["n = 2", walrus, answer]


def test_a_builtin_that_is_called_is_not_changed(notebook):
    lesson = "def show(x): return next(iter(x)).lower()\nshow(slow())"
    answer = '@implements("u99.sweep")\ndef sweep(graph): return next(iter(graph.nodes))'
    assert sources(read(notebook(lesson, answer))) == [answer]
    changed = "RULES = [[]]\nnext(iter(RULES)).append(1)"
    uses = '@implements("u99.sweep")\ndef sweep(graph): return RULES'
    assert len(sources(read(notebook(changed, uses)))) == 3


@pytest.mark.parametrize("reads", ["globals()['x']", "eval('x')", "getattr(__main__, 'x')",
                                   "getattr(sys.modules[__name__], 'x')"])  # fmt: skip
def test_what_a_string_names_is_taken_but_not_what_it_says(notebook, reads):
    answer = (
        '@implements("u99.sweep")\ndef sweep(graph):\n    "The x of the lesson."\n'
        f"    if graph is None: raise ValueError('the graph is one of the lesson')\n"
        f"    return {reads}"
    )
    cells = ["lesson = slow()", "graph = slow()", "one = 1", "x = 3", answer]
    assert sources(read(notebook(*cells))) == ["x = 3", answer]


def test_an_attribute_found_by_its_name_is_no_variable(notebook):
    answer = '@implements("u99.sweep")\ndef sweep(graph): return getattr(graph, "nodes")'
    assert sources(read(notebook("nodes = slow()", answer))) == [answer]


def test_what_a_loop_goes_through_is_changed_by_it(notebook):
    answer = '@implements("u99.sweep")\ndef sweep(graph): return RULES'
    loop = "for number, rule in enumerate(RULES):\n    rule.append(number)"
    assert sources(read(notebook("RULES = [[], []]", loop, answer)))[1] == loop
    shown = "for rule in RULES:\n    print(rule)"
    assert sources(read(notebook("RULES = [[], []]", shown, answer))) == [
        "RULES = [[], []]",
        answer,
    ]
