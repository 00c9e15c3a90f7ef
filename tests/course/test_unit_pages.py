"""docs/units: a page for the teacher of each unit, true as far as a test can tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.edition.contents import COURSE, EDITIONS, contents
from autograder.edition.facts import exercise_table, minutes_table, page_of
from autograder.edition.sources import Source, sources
from course_lib.exercises import MODULES, slot

FOLDER = COURSE / "docs" / "units"
UNITS = sources(COURSE / "notebooks")
HEADINGS = [
    "Objectives", "Prerequisites", "Minutes", "Exercises", "Wrong answers",
    "A question for the class", "On other machines",
]  # fmt: skip
NAME = re.compile(r"`((?:u\d\d|\w+)(?:\.[a-z]\w*)+)`")


def page(source: Source) -> str:
    return (FOLDER / f"{source.key}.md").read_text(encoding="utf-8")


def test_there_is_a_page_for_each_unit_and_no_other():
    assert {path.stem for path in FOLDER.iterdir()} == {source.key for source in UNITS}


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_a_page_has_every_part_with_something_in_it(source):
    title, *parts = re.split(r"^## ", page(source), flags=re.MULTILINE)
    assert title.startswith(f"# Teaching {source.key} · ")
    found = dict(part.split("\n", 1) for part in parts)
    assert list(found) == HEADINGS
    assert all(len(text.split()) > 8 for text in found.values())


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_a_page_speaks_of_the_exercises_that_the_unit_has(source):
    names = set(source.exercises())
    own = {name for name in MODULES if slot(name).key == source.key} | names
    for name in NAME.findall(page(source)):
        if name in MODULES or re.match(r"u\d\d(_lab_\w+)?\.", name):
            assert name in own or slot(name).key < source.key, f"{name} is none of this unit"
    wrong = page(source).split("## Wrong answers")[1].split("\n## ")[0]
    asked = {name for name in names if slot(name).kind != "explain" and not slot(name).further}
    missing = asked - set(NAME.findall(wrong))
    assert len(missing) <= len(asked) / 3, f"no wrong answer is told of {sorted(missing)}"


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_the_table_is_made_of_the_unit(source):
    table = exercise_table(source)
    assert re.findall(r"^\| `([\w.]+)`", table, re.MULTILINE) == source.exercises()
    assert table.endswith(f"In all {source.worth()}.\n")
    text = page_of(source, FOLDER)
    assert f"## Exercises\n\n{table}" in text
    assert text.replace(f"\n{table}", "").replace(f"\n{minutes_table(source)}", "") == page(source)
    for name, row in zip(source.exercises(), table.splitlines()[2:], strict=False):
        kind, points, *counts = (cell.strip() for cell in row.split("|")[2:-1])
        assert (kind, points.split()[0]) == (slot(name).kind, f"{slot(name).points:g}")
        assert kind == "explain" or (int(counts[2]) >= 5 and int(counts[3]) >= 3), row


def test_the_command_prints_the_tables(capsys):
    assert main(["facts", "--unit", "0"]) == 0
    assert exercise_table(UNITS[0]) in capsys.readouterr().out
    assert main(["facts", "--unit", "77"]) == 1


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_edition_holds_a_teachers_page(edition):
    files = contents(edition, unit=0)
    assert not [name for name in files if "docs" in Path(name).parts]
    assert not [name for name, data in files.items() if b"# Teaching u0" in data]


BEGINS = re.compile(r"\s*(\d+[.)]|[-+*]) ")
BREAKS_IN = re.compile(r"(1[.)]|[-+*]) ")  # a list that begins so needs no empty line before it


def lists_by_accident(text: str) -> list[str]:
    """Lines in the middle of a paragraph that begin as a list does, such as "1) and (1, 0)" where
    "(0, 1) and (1, 0)" was wrapped: Markdown makes a list of the rest."""
    found = []
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for block in re.split(r"\n\s*\n", prose):
        first, *others = block.strip("\n").splitlines() or [""]
        if not BEGINS.match(first) and not first.startswith(("---", "#", "|", ":::")):
            found += [line for line in others if BREAKS_IN.match(line)]
    return found


TIMED = re.compile(
    r"\b(reader|student|person)s?\b[^.|]{0,90}\b(took|counted|spent|was timed)\b"
    r"|\b(minutes|hours|[Cc]ounted|estimates)\b (are those )?(by|of|from|with) (one|a) reader\b"
)


def test_no_page_says_that_a_reader_was_timed(root):
    """Minutes are estimates: no class has done the course yet."""
    assert TIMED.search("One reader who had not seen them before took 78 minutes")
    assert TIMED.search("The minutes are those of one reader who had not seen the unit")
    pages = [*root.glob("notebooks/*.md"), *root.glob("docs/**/*.md"), root / "README.md"]
    found = {page.name: TIMED.findall(" ".join(page.read_text("utf-8").split())) for page in pages}
    assert {name: said for name, said in found.items() if said} == {}
    for source in UNITS:
        assert "nobody has been timed" in minutes_table(source)


def test_no_line_of_prose_becomes_a_comment(root):
    """MyST leaves out every line that begins with a percent sign, such as "%3 lies between ..."."""
    hidden = {}
    for page in [*root.glob("notebooks/*.md"), *root.glob("docs/units/*.md")]:
        prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
        hidden[page.name] = re.findall(r"^\s*%.*", prose, flags=re.M)
    assert {name: lines for name, lines in hidden.items() if lines} == {}


def test_no_wrapped_line_becomes_a_list(root):
    assert lists_by_accident("Loops with (0,\n1) and (1, 0).") == ["1) and (1, 0)."]
    assert lists_by_accident("1. one\n   more\n2. two\n\n- a\n  b\n- c\n\nText.") == []
    pages = [*root.glob("notebooks/*.md"), *root.glob("docs/**/*.md"), root / "README.md"]
    found = {page.name: lists_by_accident(page.read_text("utf-8")) for page in pages}
    assert {name: lines for name, lines in found.items() if lines} == {}
