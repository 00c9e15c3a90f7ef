"""Downloads of Canvas and Moodle as they are, with the names that people have, and what goes back.

Nothing but two empty notebooks is graded: most files are broken, and each has feedback that says
so. What Canvas and Moodle make of a name is written out here after their sources (returned.py and
book/roster.py name them); neither of them ran here.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.grading.book.roster import participants, read_roster
from autograder.grading.grade_class import Job, grade_class

EXAMPLE = Path(__file__).resolve().parents[2] / "example_unit" / "notebooks"
BROKEN = b'{"cells": ['
GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Tour (77)
    Points Possible,,,,,10
"Lovelace, Ada",88,S1,ada,A,
"Müller, Zoë",89,S2,zoe,A,
"山田, 明",90,S3,akira,A,
"Builder, Bob",91,S4,bob,A,
"Dupont, René",92,S5,rene,A,
"Smith, Jo",93,S6,jo1,A,
"Smith, Jo",94,S7,jo2,B,
"""
WORKSHEET = """Identifier,Full name,Email address,Status,Grade,Maximum grade,Feedback comments
Participant 4711,Ada Lovelace,ada@example.org,Submitted,-,10.00,
Participant 4712,Jo Smith,jo1@example.org,Submitted,-,10.00,
Participant 4713,Jo Smith,jo2@example.org,Submitted,-,10.00,
Participant 4714,"O'Brien, Søren-Łukasz",so@example.org,Submitted,-,10.00,
"""
PEOPLE = """id,name,email,group
ada,Ada Lovelace,ada@example.org,Team Red
jo1,Jo Smith,jo1@example.org,Team Blue
jo2,Jo Smith,jo2@example.org,Team Blue
so,"O'Brien, Søren-Łukasz",so@example.org,Team Red
"""


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def term(tmp_path: Path, capsys) -> Callable[..., dict[str, dict[str, str]]]:
    """term(files, roster) grades a download; the lines of grades.csv by student."""

    def run(files: dict[str, bytes], roster: str, **more: Any) -> dict[str, dict[str, str]]:
        (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
        place = zipped(tmp_path / "submissions.zip", files)
        out, roster_file = tmp_path / "out", tmp_path / "roster.csv"
        job = Job(place, out, 99, roster=roster_file, notebooks=EXAMPLE, **more)
        assert grade_class(job) == 0, capsys.readouterr().out
        text = (out / "grades.csv").read_text(encoding="utf-8")
        return {row["student"]: row for row in csv.DictReader(io.StringIO(text))}

    return run


def returned(tmp_path: Path, platform: str) -> dict[str, bytes]:
    path = tmp_path / "out" / "feedback" / f"u99_example.{platform}.zip"
    if not path.exists():
        return {}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def canvas_takes(name: str) -> tuple[int, int] | None:
    """(user, file) to which infer_comment_context_from_filename gives what is called so."""
    numbers = [int(part) for part in name.split("/")[-1].split("_") if re.fullmatch(r"\d+", part)]
    last = name.split("_")[-1]
    return None if last.startswith("link") or len(numbers) < 2 else (numbers[0], numbers[1])


def moodle_takes(path: str) -> tuple[int, str] | None:
    """(participant, file name) by is_valid_filename_for_import."""
    parts = path.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) < 4 or not info[1].isdigit() or info[2] != "assignsubmission":
            continue
        rest = [info[4] if len(info) > 4 else "", *parts]
        return int(info[1]), "/".join(part for part in rest if part)
    return None


CANVAS = {
    "lovelaceada_88_5091_u99_example.ipynb": "ada",
    "müllerzoë_LATE_89_5092_u99_example-1.ipynb": "zoe",
    "山田明_90_5093_meine abgabe (2).ipynb": "akira",
    "builderbob_91_5094_all of it.zip": "bob",
    "smithjo_93_5097_u99_example.ipynb": "jo1",
    "smithjo_94_5098_u99_example.ipynb": "jo2",
}


def test_canvas_names_say_whose_it_is_and_where_the_feedback_goes(term, tmp_path, untouched):
    files = {name: BROKEN for name in CANVAS} | {
        "lovelaceada_88_5091_u99_example.ipynb": untouched,
        "dupontrené_92_5095_u99_example.ipynb": untouched,
        "dupontrené_92_5096_u99_example-1.ipynb": untouched + b" ",
    }
    rows = term(files, GRADEBOOK)
    assert [row["status"] for row in rows.values() if row["student"] == "88"] == ["handed in"]
    by_number = {p.id: p for p in read_roster(tmp_path / "roster.csv")}
    for name, login in CANVAS.items():
        user, file = canvas_takes(name) or (0, 0)
        assert by_number[str(user)].login == login and rows[str(user)]["file"].startswith(name[:5])
        assert file > 5000
    assert rows["92"]["status"] == "undecided" and "[hand_ins]" in rows["92"]["notes"]
    feedback = returned(tmp_path, "canvas")
    assert set(CANVAS) == set(feedback), "nobody gets feedback on what may not count"
    assert all(canvas_takes(name) for name in feedback)
    notebook = nbformat.reads(feedback["lovelaceada_88_5091_u99_example.ipynb"].decode(), 4)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "feedback" in text and "u99.sweep`: not attempted yet" in text
    with zipfile.ZipFile(io.BytesIO(feedback["builderbob_91_5094_all of it.zip"])) as inner:
        assert inner.namelist() == ["u99_example.feedback.ipynb"]
    head, possible, *lines = csv.reader(
        (tmp_path / "out" / "canvas.csv").read_text(encoding="utf-8").splitlines()
    )
    assert head[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert possible[0].strip() == "Points Possible" and [line[1] for line in lines] == [
        str(number) for number in range(88, 95)
    ]
    assert returned(tmp_path, "moodle") == {}


def test_moodles_worksheet_tells_two_people_of_one_name_apart(term, tmp_path, untouched):
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(WORKSHEET, encoding="utf-8")
    folders = {
        "Ada Lovelace_4711_assignsubmission_file_": "ada",
        "Jo Smith_4712_assignsubmission_file": "jo1",  # Moodle 4.1 and later
        "Jo Smith_4713_assignsubmission_file": "jo2",
    }
    files = {f"{folder}/mine.ipynb": BROKEN for folder in folders}
    folders["O'Brien, Søren-Łukasz_4714_assignsubmission_file_my work.ipynb"] = "so"
    files[list(folders)[-1]] = BROKEN  # downloaded without folders
    files["Jo Smith_4713_assignsubmission_file/mine.ipynb"] = untouched
    without = term(files, PEOPLE)
    assert {without[name]["status"] for name in ("jo1", "jo2")} == {"nothing handed in"}
    rows = term(files, PEOPLE, worksheet=sheet)
    assert [rows[name]["status"] for name in folders.values()] == [
        "cannot be graded", "cannot be graded", "handed in", "cannot be graded",
    ]  # fmt: skip
    pages = returned(tmp_path, "moodle")
    taken = [moodle_takes(path) for path in sorted(pages)]
    assert set(taken) == {(n, "u99_example.html") for n in range(4711, 4715)} and len(taken) == 4
    page = pages["Jo Smith_4713_assignsubmission_file_/u99_example.html"].decode()
    assert "Jo Smith" in page and "not attempted" in page
    people = read_roster(tmp_path / "roster.csv")
    assert participants(sheet, people)["4713"] == "jo2"


def test_what_one_of_a_group_hands_in_is_everybodys(term, tmp_path, untouched):
    (tmp_path / "course.toml").write_text("[u99]\ngroups = true\n")
    groups = {"course": tmp_path / "course.toml"}
    rows = term({"Team Blue_12_assignsubmission_file/x.ipynb": untouched}, PEOPLE, **groups)
    assert {name: rows[name]["status"] for name in ("ada", "jo1", "jo2", "so")} == {
        "ada": "nothing handed in", "jo1": "handed in", "jo2": "handed in",
        "so": "nothing handed in",
    }  # fmt: skip
    assert (
        "for the group" in rows["jo2"]["notes"]
        and (tmp_path / "out" / "feedback" / "u99_example" / "jo2.html").exists()
    )
    assert returned(tmp_path, "moodle") == {}, "12 would be somebody else there"
    files = {"lovelaceada_1_2_x.ipynb": BROKEN, "jo1.ipynb": BROKEN, "jo2.ipynb": BROKEN}
    both = term(files, PEOPLE, **groups)
    assert {both[name]["status"] for name in ("jo1", "jo2")} == {"cannot be graded"}


def test_a_path_that_leads_out_and_a_bomb_are_refused_in_words(term, tmp_path):
    files = {
        "../../evil_1_2_x.ipynb": BROKEN, "/etc/evil_3_4_x.ipynb": BROKEN,
        "..\\up_5_6_x.ipynb": BROKEN, "lovelaceada_88_5091_x.ipynb": bytes(60 << 20),
        "müllerzoë_89_5092_x.zip": b"PK" + bytes(50),
    }  # fmt: skip
    rows = term(files, GRADEBOOK)
    assert "more than 20 MB" in rows["88"]["notes"] and "cannot be read" in rows["89"]["notes"]
    others = [row for name, row in rows.items() if not name.isdigit()]
    assert others and {row["status"] for row in others} == {"not on the roster"}
    written = [p for p in tmp_path.parent.rglob("*evil*")]
    assert all(tmp_path / "out" in path.parents for path in written)
    names = [*returned(tmp_path, "canvas"), *returned(tmp_path, "moodle")]
    assert names and all("/" not in n and "\\" not in n and ".." not in n for n in names)
