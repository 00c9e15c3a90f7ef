"""The two reading paths of docs/reading.md: short enough to be read, and each file names the next.

    1. `compiler.py`: ...        its text ends: Reading path, 1 of 12; next: `ir/graph/node.py`.
    2. `ir/graph/node.py`: ...

What the page promises is held here: files, lines (all of them, as `wc -l` counts), what is on it.
"""

import ast
import re
from pathlib import Path

import pytest

FILES, LINES = 12, 2500
MARK = re.compile(r"^Reading path.*$", re.M)
TITLES = {
    "From a model to machine code": "Reading path",
    "From a model to clocks on the chip": "Reading path of the chip",
}
KINDS = (  # a model becomes a graph, loops, LLVM IR: what has to be seen of it
    "compiler.py", "ir/ops/", "ir/expr.py", "ir/loops/nest.py", "passes/", "lower/lowering.py",
    "schedule/primitives/", "targets/cpu.py", "llvm/emit.py", "llvm/entry.py",
)  # fmt: skip


def paths(root: Path) -> dict[str, list[str]]:
    """What the page lists under each title, in order."""
    text = (root / "docs" / "reading.md").read_text(encoding="utf-8")
    found = {}
    for section in text.split("\n## ")[1:]:
        title, _, rest = section.partition("\n")
        rows = re.findall(r"^(\d+)\. `([\w/]+\.py)`: \S.*$", rest, re.M)
        assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
        found[title] = [name for _, name in rows]
    return found


def end_of_docstring(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[-1]


@pytest.mark.parametrize("title", TITLES)
def test_a_path_can_be_walked_from_file_to_file(root, title):
    path = paths(root)[title]
    said = [end_of_docstring(root / "course_lib" / name) for name in path]
    steps = [f"next: `{name}`." for name in path[1:]]
    assert said == [
        f"{TITLES[title]}, {number} of {len(path)}; {what}"
        for number, what in enumerate([*steps, "its end."], 1)
    ]


@pytest.mark.parametrize("title", TITLES)
def test_a_path_is_as_short_as_the_page_says(root, table, title):
    path = paths(root)[title]
    read = [(root / "course_lib" / name).read_text(encoding="utf-8") for name in path]
    lines = sum(text.count("\n") for text in read)
    table("Reading paths", f"{title}: {len(path)} files, {lines:,} lines")
    assert len(set(path)) == len(path) <= FILES and lines <= LINES


def test_the_pages_say_the_numbers_that_are_held(root):
    page = (root / "docs" / "reading.md").read_text(encoding="utf-8")
    assert "at most twelve files and 2,500 lines" in page and (FILES, LINES) == (12, 2500)
    assert list(paths(root)) == list(TITLES)
    assert {len(path) for path in paths(root).values()} == {12}  # "twelve files", in several pages


def test_each_form_of_the_program_is_on_the_way_to_machine_code(root):
    path = paths(root)["From a model to machine code"]
    assert [kind for kind in KINDS if not any(name.startswith(kind) for name in path)] == []


def test_no_other_file_says_that_it_is_on_a_path(root):
    marked = {
        str(path.relative_to(root / "course_lib"))
        for path in (root / "course_lib").rglob("*.py")
        if MARK.search(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
    }
    assert marked == {name for path in paths(root).values() for name in path}
