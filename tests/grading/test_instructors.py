"""docs/instructors.md is true: its commands run in order, and print what it says."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.edition.contents import COURSE
from autograder.grading.book.course_file import read_course
from autograder.grading.rehearsal import KINDS

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


def plain(text: str) -> str:
    """What does not depend on the machine: another one may have another sandbox."""
    return re.sub(r"sandbox: .*", "sandbox", text).strip()


def test_the_five_minutes_are_true(tmp_path: Path):
    assert [bool(said) for _, said in steps("Five minutes")] == [0, 1, 0, 1, 1, 1]
    follow("Five minutes", tmp_path)
    pages = tmp_path / "build" / "grades" / "feedback" / "u00_tour"
    assert {"ada.html", "bob.html"} <= {page.name for page in pages.iterdir()}


def test_the_rehearsal_is_true(tmp_path: Path):
    assert [bool(said) for _, said in steps("A rehearsal")] == [True]
    follow("A rehearsal", tmp_path)
    with (tmp_path / "rehearsal" / "expected.csv").open(encoding="utf-8") as file:
        assert [row["kind"] for row in csv.DictReader(file)] == list(KINDS), "one of each kind"


def test_every_block_of_commands_is_in_a_section_that_is_followed():
    followed = [code for title in ("Five minutes", "A rehearsal") for code, _ in steps(title)]
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert [code for kind, code in blocks if kind == "sh"] == followed


@pytest.mark.parametrize("command", IN_SENTENCES)
def test_a_command_in_a_sentence_runs(command: str, tmp_path: Path):
    assert run(command, tmp_path)


def test_what_course_toml_may_say_is_understood(tmp_path: Path):
    found = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "course.toml").write_text("".join(found), encoding="utf-8")
    assert read_course(tmp_path / "course.toml", {}).hand_ins == {"homework final.ipynb": "ada"}
