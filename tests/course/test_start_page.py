"""The start page: links to the units that exist, and an honest word about the others."""

import re
from pathlib import Path

import nbformat
import pytest

from autograder.edition.contents import COPIES, COURSE, contents
from autograder.edition.sources import Source, sources
from autograder.edition.start import UNIT, start_page, units_that_exist
from course_lib.exercises import slot

TEXT = """\
# Course

### Part I. One

- u01 · First · What?

### Part II. Two

- u02 · Second · How?
- u03 · Third · Why?
"""


def empty(path: Path) -> Source:
    """A notebook in which there is nothing."""
    path.write_text("")
    return Source(path)


def test_units_with_a_notebook_are_links_and_the_others_are_named_last(tmp_path):
    found = [empty(tmp_path / "u02_second.md")]
    assert units_that_exist(TEXT, found) == (
        "# Course\n\n### Part II. Two\n- [u02 · Second](u02_second.ipynb). How? 0 points.\n\n"
        "1 of 3 units exist. Planned, in this order: u01 First; u03 Third.\n"
    )


def test_a_complete_course_plans_nothing(tmp_path):
    found = [empty(tmp_path / f"u0{k}_x.md") for k in (1, 2, 3)]
    assert "Planned" not in units_that_exist(TEXT, found)


def test_the_page_is_a_valid_notebook_that_is_the_same_each_time():
    first, second = (contents("open")["start.ipynb"] for _ in range(2))
    assert first == second
    page = nbformat.reads(first.decode(), as_version=4)
    nbformat.validate(page)
    assert [cell.cell_type for cell in page.cells].count("code") == 3


def test_every_link_of_the_page_is_in_the_edition():
    files = contents("open")
    text = "\n".join(c.source for c in nbformat.reads(files["start.ipynb"].decode(), 4).cells)
    links = re.findall(r"\]\(([\w/]+\.\w+)\)", text)
    assert "library/course_lib/compiler.py" in links and set(links) <= set(files)


def test_the_page_of_a_whole_class_leads_to_the_library_of_the_class():
    files = contents("student")
    text = "\n".join(c.source for c in nbformat.reads(files["start.ipynb"].decode(), 4).cells)
    assert "](course_lib/compiler.py)" in text and "library/" not in text
    assert "course_lib/compiler.py" in files and not [f for f in files if f.startswith("library/")]


def test_every_notebook_has_its_line_on_the_page(root):
    text = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    listed = [int(m[1]) for line in text.splitlines() if (m := UNIT.fullmatch(line))]
    assert listed == sorted(listed)
    assert {source.unit for source in sources(root / "notebooks")} <= set(listed)


def test_the_units_stand_in_seven_parts_without_a_gap(root):
    text = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    parts = re.split(r"^### Part ([IV]+)\. ", text, flags=re.MULTILINE)
    assert parts[1::2] == ["I", "II", "III", "IV", "V", "VI", "VII"]
    numbers = [[int(m[1]) for m in UNIT.finditer(part)] for part in parts[2::2]]
    assert [row[0] for row in numbers] == [0, 5, 10, 12, 15, 19, 22]
    found = [n for row in numbers for n in row]
    assert found == [*range(len(found))] and len(found) >= 28


def test_what_does_not_exist_yet_is_marked_as_planned(root):
    text = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    there = {source.unit for source in sources(root / "notebooks")}
    for line in text.splitlines():
        if unit := UNIT.fullmatch(line):
            assert line.endswith(" *Planned.*") == (int(unit[1]) not in there), line


def test_the_page_says_what_a_unit_is_worth():
    page = nbformat.reads(contents("open")["start.ipynb"].decode(), 4)
    text = "\n".join(cell.source for cell in page.cells)
    for source in sources(COURSE / "notebooks"):
        core = sum(slot(n).points for n in source.exercises() if not slot(n).further)
        (line,) = (line for line in text.splitlines() if f"({source.name}.ipynb)" in line)
        assert f" {core} points" in line, line


@pytest.mark.parametrize(("edition", "unit"), [("open", None), ("student", 12)])
def test_every_first_page_says_that_an_answer_leaves_its_arguments_alone(edition, unit):
    page = nbformat.reads(contents(edition, unit=unit)["start.ipynb"].decode(), 4)
    assert COPIES in " ".join(" ".join(cell.source for cell in page.cells).split())


def test_an_edition_of_one_unit_does_not_speak_of_the_others():
    assert b"Planned" not in contents("open", unit=0)["start.ipynb"]


def test_the_page_keeps_its_text(root):
    text = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    page = start_page(text, sources(root / "notebooks")).decode()
    assert "Does it work here?" in page and "kernelspec:" not in page


def test_readme_and_start_page_say_how_many_units_there_are(root):
    text = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    there = sum(not source.is_lab for source in sources(root / "notebooks"))
    planned = sum(bool(UNIT.fullmatch(line)) for line in text.splitlines())
    assert f"{there} of {planned} units exist" in contents("open")["start.ipynb"].decode()
    assert f"{there} of {planned} units exist" in (root / "README.md").read_text(encoding="utf-8")


def test_the_reading_path_is_as_long_as_the_start_page_says(root):
    """Walked and counted in tests/compiler/test_reading_path.py."""
    page = " ".join((root / "notebooks" / "index.md").read_text(encoding="utf-8").split())
    assert "Twelve files, in at most 2,500 lines with their explanations" in page
    reading = " ".join((root / "docs" / "reading.md").read_text(encoding="utf-8").split())
    assert "at most twelve files and 2,500 lines" in reading
    first = re.findall(r"^1\. `([\w/]+\.py)`", (root / "docs" / "reading.md").read_text(), re.M)
    assert all(f"library/course_lib/{name}" in page for name in first) and len(first) == 2
