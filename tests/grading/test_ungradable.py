"""What cannot be read is nobody's 0: it is named, told to the student, and waits for a person.

ada.ipynb, cut off during the upload  ->  no points; "It ends in the middle ..."; by-hand.csv
"""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest

UNIT = "u99_example"


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def conflict(solved: bytes) -> bytes:
    return solved.replace(b'"cells": [', b'"cells": [\n<<<<<<< HEAD\n=======\n>>>>>>> theirs', 1)


@pytest.fixture
def handed_in(solved: bytes) -> dict[str, tuple[bytes, str]]:
    """(the file, what its student is told) by its name."""
    return {
        "cut.ipynb": (solved[: len(solved) // 2], "It ends in the middle"),
        "merge.ipynb": (conflict(solved), "a merge conflict in it, from line 3 on"),
        "script.py": (b"print(1)", "It is a .py file, not a notebook (.ipynb)."),
        "empty.ipynb": (b"", "It is empty."),
        "page.ipynb": (b"<!DOCTYPE html><p>Sign in", "It is a web page."),
        "hollow.zip": (zipped(), "There is no notebook in the zip."),
        "wrong.ipynb": (b'{"cells": [{"cell_type": "code", "source": "x"}]}', "answers none of"),
    }


def worklist(out) -> list[dict[str, str]]:
    with (out / "by-hand.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_each_is_named_and_told_and_waits_and_stops_nobody(class_of, handed_in, solved):
    files = {name: data for name, (data, _) in handed_in.items()}
    ran = class_of({**files, "zoe.ipynb": solved})
    assert ran.status == 0 and ran.rows["zoe"]["earned"] == "10"
    assert f"{len(files)} handed in what cannot be graded" in ran.said
    assert f"{len(files) + 1} wait for a person" in ran.said
    waiting = {row["student"]: row for row in worklist(ran.out) if row["exercise"] == UNIT}
    assert len(waiting) == len(files) and "zoe" not in waiting
    for name, (_, said) in handed_in.items():
        student = name.split(".")[0]
        assert f"{student} ({UNIT})" in ran.said
        row = ran.rows[student]
        assert row["status"] == "cannot be graded" and said in row["notes"]
        assert [row[key] for key in ("earned", "bonus", "penalty", "final")] == [""] * 4
        assert waiting[student]["possible"] == "10" and said in waiting[student]["text"]
        report = json.loads((ran.out / "reports" / UNIT / f"{student}.json").read_text())
        assert report["earned"] is None and report["final"] is None
        page = (ran.out / "feedback" / UNIT / f"{student}.html").read_text()
        assert said in page and "has no points yet" in page and ".ipynb" in page
        assert "Stuck?" not in page and "Write the function" not in page


def test_a_person_decides_for_the_whole_until_a_file_comes_that_can_be_graded(
    class_of, solved, tmp_path
):
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name\nada,Ada Lovelace\nbob,Bob Babbage\n")
    broken = {"ada.ipynb": solved[:500], "bob.ipynb": b""}
    out = class_of(broken, roster=roster).out
    rows = worklist(out)
    assert [row["what"] for row in rows] == ["cannot be graded"] * 2
    points = {"ada": "4", "bob": "0"}
    for row in rows:
        row.update(points=points[row["student"]], comment="Your repository shows most of it.")
    with (out / "by-hand.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    ran = class_of(compare=out, roster=roster)
    assert "for a person" not in ran.said and "cannot be graded" not in ran.said
    assert "u99.sweep: – -> 3  points given by hand" in ran.said
    canvas = list(csv.reader((out / "canvas.csv").read_text().splitlines()))
    finals = {row[0]: row[-1] for row in canvas[2:]}
    assert finals == {"Ada Lovelace": "4", "Bob Babbage": "0"}
    page = (out / "feedback" / UNIT / "ada.html").read_text()
    assert "4 of 10 points" in page and "Your repository shows most of it." in page
    ran = class_of({"ada.ipynb": solved}, roster=roster)
    assert (ran.rows["ada"]["earned"], ran.rows["ada"]["status"]) == ("10", "handed in")
    assert ran.rows["bob"]["final"] == "0"


def test_more_points_than_there_are_for_the_whole_are_refused(class_of, solved):
    out = class_of({"ada.ipynb": b""}).out
    (out / "by-hand.csv").write_text(f"student,assignment,exercise,points\nada,{UNIT},{UNIT},11\n")
    with pytest.raises(ValueError, match=rf"{UNIT} has 0 to 10 points, not 11"):
        class_of()
