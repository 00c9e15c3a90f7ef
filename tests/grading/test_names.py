"""Whatever a file is called: it has a row of its own, and a file of its own."""

from __future__ import annotations

import io
import json
import os
import struct
import unicodedata
import zipfile
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading import submissions
from autograder.grading.names import file_name, labels, shortened
from autograder.grading.submissions import collect
from autograder.grading.tasks import tasks

UNIT = "u99_example"
# Fourteen students on a file system that knows case and every spelling: all of them are different.
ALIKE = [
    "ada.ipynb", "Ada.ipynb", "ada..ipynb", "ada_u99_example.ipynb", "ada_u99_example (2).ipynb",
    "ada u99_example-1.ipynb", "a<da.ipynb", "a>da.ipynb", "a|da.ipynb", "a_da.ipynb",
    unicodedata.normalize("NFC", "é.ipynb"), unicodedata.normalize("NFD", "é.ipynb"),
    "con.ipynb", "CON.ipynb",
]  # fmt: skip


def notebook(text: str) -> bytes:
    code = f'@implements("u99.bytes")\ndef f(): return "{text}"'
    cell = {"cell_type": "code", "source": code, "metadata": {}}
    return json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5}).encode()


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_fourteen_names_are_fourteen_students(tmp_path, assignment):
    put(tmp_path, {name: notebook(str(n)) for n, name in enumerate(ALIKE)})
    found = tasks(collect(tmp_path, [UNIT]), [assignment])
    assert len({task.student for task in found}) == len(found) == 14
    assert len({task.program.digest for task in found}) == 14
    files = {file_name(task.student).casefold() for task in found}
    assert len(files) == 14


def test_a_copy_does_not_take_the_place_of_the_original(tmp_path, assignment):
    put(tmp_path, {"ada.ipynb": notebook("1"), f"ada_{UNIT} (2).ipynb": notebook("2")})
    found = {t.student: t.file for t in tasks(collect(tmp_path, [UNIT]), [assignment])}
    assert found == {"ada.ipynb": "ada.ipynb", f"ada_{UNIT} (2).ipynb": f"ada_{UNIT} (2).ipynb"}


def test_file_folder_and_zip_of_one_name_are_three(tmp_path):
    put(tmp_path, {"ada/x.ipynb": notebook("1"), "ada.ipynb": notebook("2")})
    put(tmp_path, {"ada.zip": zipped({"x.ipynb": notebook("3")})})
    assert sorted({h.student for h in collect(tmp_path)}) == ["ada", "ada.ipynb", "ada.zip"]


@pytest.mark.parametrize("name", ["山" * 80, "x" * 250, "a" * 200 + "é" * 20])
def test_long_name_stops_nobody(name, class_of):
    name = name.encode()[:249].decode(errors="ignore")
    for _ in range(2):
        run = class_of({f"{name}.ipynb": b"{"})
        assert name in run.rows and len(list((run.out / "feedback").rglob("*.html"))) == 1


AWKWARD = [
    "NUL",
    "aux.txt",
    "a.",
    "a",
    ".",
    "..",
    "",
    "a/b",
    "a_b",
    "ß",
    "ss",
    "ﬁ",
    "fi",
    "I",
    "ı",
    "i",
]


@pytest.mark.parametrize("one, other", list(combinations(AWKWARD, 2)))
def test_two_names_are_two_files_everywhere(one, other):
    assert everywhere(file_name(one)) != everywhere(file_name(other))


@given(st.sets(st.text(alphabet="aAbB. _-1éE\u0301ßﬀfK\u212a<>", max_size=8), min_size=2))
def test_no_set_of_names_makes_two_files_one(names):
    files = {everywhere(file_name(name)) for name in names}
    assert len(files) == len(names)
    assert all(f.strip(". ") == f and f and len(f.encode()) < 200 for f in files)


def everywhere(name: str) -> str:
    """What a file system takes it for that ignores case and spelling."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


@given(st.sets(st.text(alphabet="ab_. (2)u9", min_size=1, max_size=12), min_size=1, max_size=8))
def test_labels_are_never_merged(outers):
    found = labels({name: shortened(name, ["u9", "u"]) for name in outers})
    assert set(found) == outers and len(set(found.values())) == len(outers)


def test_everything_that_lies_there_has_a_row(tmp_path, assignment):
    strange = {
        "bob.docx": b"PK", "cyd.pdf": b"%PDF", "dan.ipynb.txt": notebook("1"), "eve": b"",
        "fay.rar": b"Rar!", "gus.tar.gz": b"", "hal.zip": b"PK no zip", "ian.zip": b"",
        ".joe.ipynb": notebook("2"), "kim/report.docx": b"PK", "lea.ipynb": b"", "mo/.x": b"",
    }  # fmt: skip
    put(tmp_path, strange)
    (tmp_path / "empty").mkdir()
    (tmp_path / "away").symlink_to("/etc")
    (tmp_path / "lost.ipynb").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.ipynb")
    found = tasks(collect(tmp_path, [UNIT]), [assignment])
    assert len(found) == len(list(tmp_path.iterdir())) == 16
    reasons = {task.student: task.reason for task in found if task.student != ".joe"}
    assert all(reasons.values()), reasons
    assert "a .docx file" in reasons["bob"] and "report.docx" in reasons["kim"]
    assert "a .txt file" in reasons["dan.ipynb"] and "no notebook" in reasons["empty"]
    assert "link" in reasons["away"] and "link" in reasons["lost"] and "pipe" in reasons["pipe"]


def test_what_may_not_be_read_has_a_row(tmp_path, monkeypatch):
    folder = put(tmp_path, {"ada.ipynb": b"{}", "bob/x.ipynb": b"{}"})
    real_open, real_walk = Path.open, os.scandir

    def denied(path, *args, **kwargs):
        if str(path).endswith("ada.ipynb"):
            raise PermissionError(13, "Permission denied")
        return real_open(path, *args, **kwargs)

    def unlisted(path):
        if str(path).endswith("bob"):
            raise PermissionError(13, "Permission denied")
        return real_walk(path)

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(os, "scandir", unlisted)
    ada, bob = collect(folder)
    assert "cannot be read: Permission denied" in ada.problem
    assert "cannot be read: Permission denied" in bob.problem


def test_other_files_beside_the_notebook_are_named(tmp_path, assignment):
    put(tmp_path, {"ada/x.ipynb": notebook("1"), "ada/essay.docx": b"PK", "ada/timestamp.txt": b""})
    (task,) = tasks(collect(tmp_path, [UNIT]), [assignment])
    assert not task.reason and any("essay.docx" in note for note in task.program.notes)
    assert "timestamp" not in task.program.notes[0]


def bomb(megabytes: int) -> bytes:
    return zipped({"x.ipynb": bytes(megabytes << 20)})


def test_forty_zips_of_one_student_share_a_budget(tmp_path, monkeypatch):
    unpacked = counted(monkeypatch)
    data = bomb(60)
    put(tmp_path / "ada", {f"{n}.zip": data for n in range(40)})
    found = list(collect(tmp_path))
    assert len(found) == 40 and all(h.problem and not h.data for h in found)
    assert sum(unpacked) <= submissions.STUDENT_BYTES + (21 << 20)


def test_forty_zips_of_forty_students_share_the_classs_budget(tmp_path, monkeypatch):
    unpacked = counted(monkeypatch)
    data, good = bomb(60), zipped({"x.ipynb": notebook("1")})
    put(tmp_path, {f"{n}.zip": data for n in range(40)} | {"zoe.zip": good})
    found = list(collect(tmp_path))
    assert len(found) == 41 and [h.student for h in found if not h.problem] == ["zoe"]
    assert sum(unpacked) <= 41 * (21 << 20)


def test_entries_that_say_they_are_small_are_counted(tmp_path, monkeypatch):
    """Two hundred entries of 60 MB which share their bytes: the budget ends it."""
    unpacked = counted(monkeypatch)
    data = zipped({f"{n:03}.ipynb": bytes(25 << 20) for n in range(12)})
    (*_, last) = collect(put(tmp_path, {"ada.zip": data}))
    assert "ignored" in last.problem and sum(unpacked) <= submissions.STUDENT_BYTES + (21 << 20)


def counted(monkeypatch) -> list[int]:
    """The sizes of all that is unpacked from now on."""
    sizes: list[int] = []
    real = zipfile.ZipExtFile.read

    def read(stream, n=-1):
        data = real(stream, n)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", read)
    return sizes


def test_zip_with_an_endless_list_of_files_is_refused(tmp_path):
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9, 9, 1 << 30, 0, 0)
    (handed,) = collect(put(tmp_path, {"ada.zip": end}))
    assert "lists too many files" in handed.problem
    large = b"PK\x06\x07" + bytes(16) + end
    (handed,) = collect(put(tmp_path, {"ada.zip": large}))
    assert "more than 4 GB" in handed.problem


def test_unusual_packing_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.ipynb", bytes(1000))
    (handed,) = collect(put(tmp_path, {"ada.zip": buffer.getvalue()}))
    assert "unusual way" in handed.problem


def test_zip_of_a_class_keeps_everybody_apart(tmp_path):
    names = ["ada.ipynb", "Ada.ipynb", "ada/x.ipynb", "../up.ipynb", "/etc/x.ipynb", "bob.docx"]
    put(tmp_path, {"all.zip": zipped({name: notebook(name) for name in names})})
    found = list(collect(tmp_path / "all.zip", [UNIT]))
    assert len({h.student for h in found}) == 6
    assert [h.student for h in found if h.problem] == ["bob"]
