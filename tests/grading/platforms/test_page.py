"""docs/deploy_graders.md is true: its commands are understood, and print what it says."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from autograder.__main__ import _parser, main
from autograder.edition.contents import COURSE
from autograder.grading.book.course_file import read_course
from autograder.grading.platforms.bundle import SCRIPTS, contained
from autograder.grading.platforms.jobs import PLACES
from autograder.grading.platforms.single import Settings

PAGE = (COURSE / "docs" / "deploy_graders.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^python -m autograder (.+)$", PAGE.replace("\\\n", " "), re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_understood(command: str):
    options = _parser().parse_args(shlex.split(command))
    assert options.unit in ("u02", "u07_lab_matmul")


def test_the_page_names_every_kind_of_job_and_every_file_of_the_zip():
    kinds = {_parser().parse_args(shlex.split(c)).kind for c in COMMANDS if c.startswith("jobs")}
    assert kinds | {"github"} == set(PLACES) and "--for github" in PAGE
    assert all(f"`{place}`" in PAGE for _, place in PLACES.values())
    tops = {name for name, _ in contained(Settings("u02")) if "/" not in name}
    assert {*SCRIPTS, "settings.json", "nothing.json"} == tops
    assert all(f"| `{name}` |" in PAGE for name in tops)


def test_the_command_for_gradescope_prints_what_the_page_says(tmp_path: Path, capsys):
    command = next(c for c in COMMANDS if c.startswith("gradescope"))
    words = shlex.split(command.replace("build/gradescope", str(tmp_path)))
    assert main(words) == 0
    said = capsys.readouterr().out.replace(str(tmp_path), "build/gradescope")
    assert said in [text for kind, text in BLOCKS if kind == "text"]


def test_what_course_toml_may_say_is_understood(tmp_path: Path):
    (text,) = (text for kind, text in BLOCKS if kind == "toml")
    assert tomllib.loads(text)
    (tmp_path / "course.toml").write_text(text)
    assert read_course(tmp_path / "course.toml", ["u02"]).units["u02"].groups
