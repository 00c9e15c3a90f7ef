"""A class: whatever lies in the folder, everybody gets a grade, and nobody stops anybody."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import zipfile
from pathlib import Path

import pytest

from autograder.grading import pool
from autograder.grading.classroom import grade_all
from autograder.grading.submissions import collect
from autograder.grading.tasks import tasks

NAMES = ["u99_example"]


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


LAYOUTS = {
    "plain": ("ada.ipynb", "ada"),
    "with_the_assignments_name": ("ada_u99_example.ipynb", "ada"),
    "second_try": ("ada_LATE_88_5091_u99_example-2.ipynb", "ada_LATE_88_5091"),
    "moodle": ("Ada Lovelace_4711_assignsubmission_file_/home work.ipynb", "Ada Lovelace_4711"),
    "nbgrader": ("ada/u99_example/u99_example.ipynb", "ada"),
    "deep": ("ada/a/b/c/x.IPYNB", "ada"),
    "odd_characters": ("Zoë & <Bob>.ipynb", "Zoë & <Bob>"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_student_is_the_outermost_name(layout, tmp_path, notebook):
    name, student = LAYOUTS[layout]
    (handed,) = collect(put(tmp_path, {name: notebook("1")}), NAMES)
    assert (handed.student, handed.problem) == (student, "") and handed.data == notebook("1")


def test_zip_of_a_student_and_zip_of_a_class(tmp_path, notebook):
    one = zipped({"x/u99_example.ipynb": notebook("1"), "numpy.py": b"evil"})
    put(tmp_path / "a", {"ada.zip": one})
    graded, (other,) = split(collect(tmp_path / "a", NAMES))
    assert graded == [("ada", notebook("1"))] and "numpy.py" in other
    everybody = zipped({"ada/x.ipynb": notebook("1"), "bob.ipynb": notebook("2"), "cyd.zip": one})
    put(tmp_path, {"all.zip": everybody})
    graded, (other,) = split(collect(tmp_path / "all.zip", NAMES))
    assert [student for student, _ in graded] == ["ada", "bob", "cyd"] and "numpy.py" in other


def split(handed) -> tuple[list[tuple[str, bytes]], list[str]]:
    """What can be graded, and why the rest cannot."""
    found = list(handed)
    good = [(h.student, h.data) for h in found if not h.problem]
    return good, [h.problem for h in found if h.problem]


def test_zip_cannot_climb_or_hand_in_for_others(tmp_path, notebook):
    evil = {"../../bob/u99_example.ipynb": notebook("1"), "/etc/x.ipynb": notebook("2")}
    nested = zipped({"bob.zip": zipped({"bob/x.ipynb": notebook("3")}), **evil})
    put(tmp_path / "in", {"ada.zip": nested})
    handed = list(collect(tmp_path / "in", NAMES))
    assert {h.student for h in handed} == {"ada"}
    assert any("zip inside a zip" in h.problem for h in handed)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["ada.zip", "in"]


def test_zip_bomb_is_not_unpacked(tmp_path):
    bomb = zipped({"x.ipynb": bytes(60 << 20)})
    assert len(bomb) < 1 << 20
    (handed,) = collect(put(tmp_path, {"ada.zip": bomb}), NAMES)
    assert "more than 20 MB" in handed.problem and not handed.data


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 broken", b"not a zip"])
def test_broken_zip_is_said(data, tmp_path):
    (handed,) = collect(put(tmp_path, {"ada.zip": data}), NAMES)
    assert "zip" in handed.problem


def test_zip_of_a_class_that_is_broken_is_said(tmp_path):
    put(tmp_path, {"all.zip": b"PK no zip"})
    with pytest.raises(ValueError, match="cannot be read"):
        collect(tmp_path / "all.zip", NAMES)


def test_link_is_not_followed(tmp_path, notebook):
    put(tmp_path, {"secret.ipynb": notebook("1")})
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    os.symlink(tmp_path / "secret.ipynb", folder / "x.ipynb")
    os.symlink(tmp_path / "secret.ipynb", tmp_path / "in" / "bob.ipynb")
    assert all("link" in h.problem for h in collect(tmp_path / "in", NAMES))


def test_a_whole_class(class_of, solved, untouched, notebook):
    half = json.loads(solved)
    half["cells"] = half["cells"][:8]
    killer = notebook('import os\n@implements("u99.sweep")\ndef f(g): os.kill(os.getppid(), 9)')
    run = class_of(
        {
            "ada.ipynb": solved,
            "bob/homework (final).ipynb": solved,
            "bob/u99_example.ipynb": untouched,
            "cyd.ipynb": untouched,
            "dan.ipynb": b'{"cells": [{"cell_type',
            "eve/readme.txt": b"my dog ate it",
            "fay.ipynb": json.dumps(half).encode(),
            "gus.ipynb": killer,
            "hal.ipynb": b"[" * 100_000,
            "=cmd.ipynb": solved,
        },
        jobs=2,
    )
    earned = {student: row["earned"] for student, row in run.rows.items()}
    assert earned == {
        "ada": "10", "bob": "10", "cyd": "0", "dan": "", "eve": "", "fay": "3", "gus": "0",
        "hal": "", "'=cmd": "10",
    }  # fmt: skip
    by_name = run.rows
    assert "cannot be read as JSON" in by_name["dan"]["notes"]
    assert "no notebook" in by_name["eve"]["notes"]
    assert "graded: bob/homework (final).ipynb" in by_name["bob"]["notes"]
    assert by_name["ada"]["to_grade"] == "2" and by_name["ada"]["u99.why"] == ""
    assert len(list((run.out / "feedback" / "u99_example").iterdir())) == len(earned)


def test_what_is_no_text_stops_nobody(tmp_path, class_of, notebook):
    """Half a character in what is printed, raised, or the name of a file; a pipe for a file."""
    folder = put(tmp_path / "in", {"ada.ipynb": notebook(
        '@implements("u99.sweep")\ndef f(g): raise ValueError("\\udfff</pre><script>")',
        '@implements("u99.bytes")\ndef f():\n    print("\\ud800<script>")\n    return 7',
    )})  # fmt: skip
    with contextlib.suppress(OSError):  # not every file system knows such a name
        (folder / os.fsdecode(b"z\xff.ipynb")).write_bytes(notebook("1"))
    os.mkfifo(folder / "eve.ipynb")
    run = class_of()
    ada, eve = (
        json.loads((run.out / "reports" / "u99_example" / f"{name}.json").read_text())["exercises"]
        for name in ("ada", "eve")
    )
    assert [v["kind"] for v in ada[:2]] == ["crashed", "wrong"]
    assert "pipe" in eve[0]["problem"]
    page = (tmp_path / "out" / "feedback" / "u99_example" / "ada.html").read_text()
    assert "<script" not in page and "&lt;script&gt;" in page


def test_second_run_takes_the_reports_from_the_cache(tmp_path, assignment, solved, monkeypatch):
    todo = tasks(collect(put(tmp_path / "in", {"ada.ipynb": solved}), NAMES), [assignment])
    first = list(grade_all(todo, tmp_path / "out"))
    monkeypatch.setattr(pool, "Seat", lambda *_: pytest.fail("graded again"))
    executed = json.loads(solved)
    for cell in executed["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"] = 7
    put(tmp_path / "in", {"ada.ipynb": json.dumps(executed).encode()})
    again = tasks(collect(tmp_path / "in", NAMES), [assignment])
    assert [r for _, r in grade_all(again, tmp_path / "out")] == [r for _, r in first]


class NoReport:
    def to_json(self):
        return {"exercises": [{"pictures": [["got", "<svg><script/></svg>"]]}]}


@pytest.mark.parametrize("fault", [lambda *_: os._exit(9), lambda *_: NoReport()])
def test_grader_that_breaks_costs_no_points(tmp_path, assignment, solved, monkeypatch, fault):
    monkeypatch.setattr(pool, "grade", fault)
    todo = tasks(collect(put(tmp_path / "in", {"ada.ipynb": solved}), NAMES), [assignment])
    ((_, report),) = grade_all(todo, tmp_path / "out")
    assert report.to_grade == 12 and {v.kind for v in report.verdicts} == {"grader"}
    assert not list((tmp_path / "out").rglob("*.json")), "our fault is not kept"


def test_stopping_leaves_whole_files_and_no_process(tmp_path, assignment, solved, notebook):
    endless = notebook('@implements("u99.sweep")\ndef f(g):\n    while True: pass')
    put(tmp_path / "in", {"ada.ipynb": solved, "bob.ipynb": endless})
    todo = tasks(collect(tmp_path / "in", NAMES), [assignment])
    running = grade_all(todo, tmp_path / "out", jobs=2)
    next(running)
    running.close()
    assert not list((tmp_path / "out").rglob(".*.tmp"))
    assert len(list((tmp_path / "out" / "cache").glob("*.json"))) == 1


def test_feedback_page_tells_the_learner_and_hides_the_teachers(tmp_path, grading, notebook):
    from autograder.grading.page import feedback_page

    cell = '@implements("u99.sweep")\ndef f(graph): return graph'
    wrong = '@implements("u99.bytes")\ndef f(): return 7'
    page = feedback_page(grading(notebook(cell, wrong)), "Ada <Lovelace>")
    only = "The bytes of six f32."
    for part in ("No dead operation is left.", only, "A check that only the grader has"):
        assert part in page
    assert "Ada &lt;Lovelace&gt;" in page and "<script" not in page
    assert (
        "990001" not in page
        and "def " not in page
        and not re.search(r"""(src|href)=["']http""", page)
    )
    assert "24" not in re.findall(rf"{re.escape(only)}.*?</section>", page, re.S)[0]
