"""A unit stays small: what several units need is written once, and rows stand in tables."""

import runpy

import pytest

MOST = 30_000
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


def test_lessons_and_units_have_at_most_30000_lines_of_code(root, by_folder):
    rooms = [by_folder(root / room) for room in ("lessons", "autograder/units")]
    assert 20_000 < sum(sum(rows.values()) for rows in rooms) <= MOST


def test_comments_docstrings_and_empty_lines_are_no_code_but_programs_are(by_folder, tmp_path):
    unit = tmp_path / "u99" / "checks"
    unit.mkdir(parents=True)
    (unit / "a.py").write_text(CODE)
    (unit / "a.txt").write_text("a program\n\nand another\n")
    assert by_folder(tmp_path) == {"u99": 6 + 2}
