"""A unit stays small: what several units need is written once, and rows stand in tables."""

import runpy

import pytest

MOST = 1_875  # lines of code for a unit and its lesson, on the average: 30,000 for sixteen
CODE = '''"""A file."""

def f(
    x,
):
    """What f does.

    More of it."""
    # a comment
    return [
        x
    ]
'''


@pytest.fixture
def by_folder(root):
    return runpy.run_path(str(root / "scripts/code_lines.py"))["by_folder"]


def test_a_unit_and_its_lesson_have_at_most_1875_lines_of_code_on_the_average(root, by_folder):
    rooms = [by_folder(root / room) for room in ("lessons", "autograder/units")]
    units = [name for name in rooms[1] if name.startswith("u")]
    lines = sum(sum(rows.values()) for rows in rooms)
    assert 1_000 * len(units) < lines <= MOST * len(units), f"{lines:,} for {len(units)} units"


def test_comments_docstrings_and_empty_lines_are_no_code_but_programs_are(by_folder, tmp_path):
    unit = tmp_path / "u99" / "checks"
    unit.mkdir(parents=True)
    (unit / "a.py").write_text(CODE)
    (unit / "a.txt").write_text("a program\n\nand another\n")
    assert by_folder(tmp_path) == {"u99": 6 + 2}
