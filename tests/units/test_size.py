"""A unit stays small: what several units need is written once, and rows stand in tables."""

import runpy

import pytest

from autograder.check.keys import is_lab
from autograder.edition.sources import sources

MOST = 1_875  # lines of code for a unit and its lesson, on the average: 30,000 for sixteen
OF_A_LAB = MOST // 2
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
    rows = by_folder(root / "lessons") + by_folder(root / "autograder/units")
    labs = {key: lines for key, lines in rows.items() if is_lab(key)}
    units = [source for source in sources(root / "notebooks") if not source.is_lab]
    lines = sum(rows.values()) - sum(labs.values())
    assert 1_000 * len(units) < lines <= MOST * len(units), f"{lines:,} for {len(units)} units"
    assert {key: lines for key, lines in labs.items() if lines > OF_A_LAB} == {}


def test_comments_docstrings_and_empty_lines_are_no_code_but_programs_are(by_folder, tmp_path):
    unit = tmp_path / "u99" / "checks"
    unit.mkdir(parents=True)
    (unit / "a.py").write_text(CODE)
    (unit / "a.txt").write_text("a program\n\nand another\n")
    assert by_folder(tmp_path) == {"u99": 6 + 2}
