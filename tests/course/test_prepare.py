"""`make lab` a second time: the files of the course are taken from what was kept.

The command itself: tests/course/test_make_lab.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.edition import contents as made_by
from autograder.edition import prepare
from autograder.edition.deliver import deliver


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path / "cache"))


def test_the_files_are_made_once_and_are_those_of_the_edition(monkeypatch, tmp_path):
    calls, contents = [], made_by.contents
    monkeypatch.setattr(
        made_by, "contents", lambda edition: calls.append(edition) or contents(edition, 0)
    )
    first = prepare.files()
    assert prepare.files() == first == contents("open", 0)
    assert calls == ["open"]
    deliver(first, tmp_path / "course")
    (tmp_path / "course" / "u00_tour.ipynb").unlink()
    deliver(prepare.files(), tmp_path / "course")
    assert (tmp_path / "course" / "u00_tour.ipynb").read_bytes() == first["u00_tour.ipynb"]


@pytest.mark.parametrize(
    ("change", "is_other"),
    [
        (lambda course: (course / "notebooks" / "u00.md").write_text("# Tour 2\n"), True),
        (lambda course: (course / "notebooks/u00.md").rename(course / "notebooks/u01.md"), True),
        (lambda course: (course / "constraints.txt").write_text("numpy==3\n"), True),
        (lambda course: (course / "course_lib" / "__pycache__" / "a.pyc").write_bytes(b"2"), False),
        (lambda course: (course / "README.md").write_text("2"), False),
    ],
)  # fmt: skip
def test_whatever_the_files_are_made_of_makes_them_anew(tmp_path, monkeypatch, change, is_other):
    course = tmp_path / "course"
    for name in (
        "notebooks/u00.md",
        "constraints.txt",
        "README.md",
        "course_lib/__pycache__/a.pyc",
    ):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text("# Tour\n")
    monkeypatch.setattr(prepare, "COURSE", course)
    before = prepare.fingerprint()
    change(course)
    assert (prepare.fingerprint() != before) is is_other
