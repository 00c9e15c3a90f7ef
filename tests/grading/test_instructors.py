"""docs/instructors.md is true: its commands run in order, and print what it says."""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograder.__main__
from autograder.__main__ import main
from autograder.edition.contents import COURSE
from autograder.grading.book.course_file import read_course
from autograder.grading.grade_class import Job, grade_class
from autograder.grading.rehearsal import KINDS, make_class
from course_lib.commands.infra.room import names

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"
PAGE = COURSE / "docs" / "instructors.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IN_SENTENCES = re.findall(r"`(python -m autograder [^`]+)`", PAGE.read_text(encoding="utf-8"))


def section(title: str) -> str:
    """The section of the page with this title."""
    text = PAGE.read_text(encoding="utf-8")
    begin = text.index(f"\n## {title}\n")
    return text[begin : text.index("\n## ", begin + 1)]


def steps(title: str) -> list[tuple[str, str]]:
    """(commands, what they print) of a section; "" where the page does not say."""
    blocks = BLOCK.findall(section(title))
    after = [*blocks[1:], ("", "")]
    pairs = zip(blocks, after, strict=True)
    return [
        (code, said if kind == "text" else "") for (k, code), (kind, said) in pairs if k == "sh"
    ]


def run(code: str, folder: Path) -> str:
    """What the commands print in this folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(COURSE)}
    done = subprocess.run(
        ["bash", "-e", "-c", code], cwd=folder, env=environment,
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def follow(title: str, folder: Path) -> None:
    for code, said in steps(title):
        printed = run(code, folder)
        if said:
            assert plain(printed) == plain(said)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that is to git what a clone of the course is."""
    shutil.copy(COURSE / ".gitignore", tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".gitignore")
    git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "The course")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def seen_by_git(folder: Path) -> str:
    """What `git add .` would take: names, grades and secrets must not be among it."""
    return git(folder, "status", "--porcelain", "--untracked-files=all")


def plain(text: str) -> str:
    """What does not depend on the machine: another one may have another sandbox."""
    return re.sub(r"sandbox: .*", "sandbox", text).strip()


def test_the_five_minutes_are_true(clone: Path):
    assert [bool(said) for _, said in steps("Five minutes")] == [0, 1, 0, 1, 1, 1]
    follow("Five minutes", clone)
    pages = clone / "build" / "grades" / "feedback" / "u00_tour"
    assert {"ada.html", "bob.html"} <= {page.name for page in pages.iterdir()}
    assert (clone / "roster.csv").exists() and seen_by_git(clone) == ""


def test_the_rehearsal_is_true(clone: Path):
    assert [bool(said) for _, said in steps("A rehearsal")] == [True]
    follow("A rehearsal", clone)
    assert seen_by_git(clone) == ""
    with (clone / "rehearsal" / "expected.csv").open(encoding="utf-8") as file:
        assert [row["kind"] for row in csv.DictReader(file)] == list(KINDS), "one of each kind"


def test_what_we_make_under_another_name_is_out_of_gits_reach_too(tmp_path: Path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "README").write_text("A folder of the teacher's own, which git shall see.")
    git(tmp_path, "init", "-q")
    for folder in (tmp_path / "dry run", mine):
        make_class(2, 99, folder, notebooks=EXAMPLE)
    job = Job(tmp_path / "dry run" / "submissions", tmp_path / "marks", notebooks=EXAMPLE)
    grade_class(job)
    assert main(["nbgrader", "--unit", "0", "--into", str(tmp_path / "for nbgrader")]) == 0
    assert (tmp_path / "marks" / "grades.csv").exists()
    seen = seen_by_git(tmp_path).splitlines()
    assert seen and all(line.startswith("?? mine/") for line in seen)


def test_what_nbgrader_writes_into_a_clone_is_out_of_gits_reach(clone: Path):
    for name in ("gradebook.db", "submitted/ada/u00_tour/u00_tour.ipynb", "grades.csv",
                 "feedback/ada/x.html", "autograded/ada/x.ipynb", "submissions.zip"):  # fmt: skip
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).touch()
    assert seen_by_git(clone) == ""


def test_every_block_of_commands_is_in_a_section_that_is_followed():
    followed = [code for title in ("Five minutes", "A rehearsal") for code, _ in steps(title)]
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert [code for kind, code in blocks if kind == "sh"] == followed


def test_every_command_that_the_page_names_exists():
    from nbgrader.apps import NbGraderApp

    makefile = (COURSE / "Makefile").read_text(encoding="utf-8")
    known = {
        "make": set(re.findall(r"^(\w+)(?: \w+)*:", makefile, re.MULTILINE)) | {"regrade"},
        "nbgrader": set(NbGraderApp.subcommands),
        "python -m autograder": subcommands(autograder.__main__._parser()),
        "python -m course_lib": set(names()),
        "jupyter": {"lab"},
    }
    text = PAGE.read_text(encoding="utf-8")
    fenced = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    lines = "\n".join([*fenced.findall(text), *re.findall(r"`([^`]+)`", fenced.sub("", text))])
    command = re.compile(r"^(make|nbgrader|jupyter|python -m \w+) ([\w-]+)", re.MULTILINE)
    named = set(command.findall(lines))
    assert {program for program, _ in named} == set(known)
    assert [(a, b) for a, b in sorted(named) if b not in known[a]] == []
    assert shutil.which("jupyter-lab", path=str(Path(sys.executable).parent))


def subcommands(parser: argparse.ArgumentParser) -> set[str]:
    actions = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return {name for action in actions for name in action.choices}


@pytest.mark.parametrize("command", IN_SENTENCES)
def test_a_command_in_a_sentence_runs(command: str, tmp_path: Path):
    assert run(command, tmp_path)


def test_what_course_toml_may_say_is_understood(tmp_path: Path):
    found = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "course.toml").write_text("".join(found), encoding="utf-8")
    course = read_course(tmp_path / "course.toml", [key := "u07_lab_matmul"])
    assert course.hand_ins == {"homework final.ipynb": "ada"}
    dues = [course.due(key, student) for student in ("", "ada")]
    assert [f"{due:%m-%d}" for due in dues if due] == ["11-30", "12-07"]
