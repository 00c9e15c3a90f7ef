"""The jobs for GitHub and GitLab: valid YAML, whose shell steps run here in their order.

What GitHub or GitLab does itself is done by hand: a repository is checked out, the variables are
set. `sudo`, `apt-get` and `setup_env.py` are stand-ins that write down what they are asked for; the
last one lends this environment instead of installing it. The rest runs as it stands in the files:
the course is fetched with git, and grades. No job ran at GitHub or GitLab: that needs an account.
"""

from __future__ import annotations

import base64
import csv
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.__main__ import main
from autograder.grading.platforms.bundle import contained
from autograder.grading.platforms.jobs import PLACES, job_file
from autograder.grading.platforms.single import Settings

from .conftest import VENV

GOOD = """
from autograder import implements
@implements("u00.intensity")
def intensity(images, inputs, outputs):
    work = images * outputs * (2 * inputs + 2)
    return work / (4 * (images * inputs + inputs * outputs + outputs + images * outputs))
"""
STUBS = {
    "sudo": 'echo "sudo $*" >> "$ASKED"',
    "apt-get": 'echo "apt-get $*" >> "$ASKED"',
    "python3": f'echo "python3 $*" >> "$ASKED"; test -f "$1" && ln -s {VENV} "$3"',
}


def git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def repository(folder: Path, files: dict[str, bytes]) -> str:
    """A repository with these files; its commit."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "All")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A repository of the course: its address and commit."""
    folder = tmp_path_factory.mktemp("course")
    inside = (pair for pair in contained(Settings("u00")) if pair[0].startswith("course/"))
    commit = repository(folder, {name.removeprefix("course/"): data for name, data in inside})
    return f"file://{folder}", commit


@pytest.fixture
def job(course: tuple[str, str], tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """job("github") writes the file into a repository as the command does, and reads it."""

    def make(kind: str) -> dict[str, Any]:
        words = ["jobs", "--unit", "0", "--for", kind, "--into", str(tmp_path / "template")]
        assert main([*words, "--repository", course[0], "--ref", course[1]]) == 0
        return yaml.safe_load((tmp_path / "template" / PLACES[kind][1]).read_text())

    return make


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., str]:
    """shell(folder, lines) runs them as the runners do, stopping at the first that fails."""
    for name, text in STUBS.items():
        stub = tmp_path / "stubs" / name
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(f"#!/bin/bash\n{text}\n")
        stub.chmod(0o755)

    def run(folder: Path, code: str, **variables: str) -> str:
        path = f"{tmp_path / 'stubs'}{os.pathsep}{os.environ['PATH']}"
        mine = {n: v for n, v in os.environ.items() if n != "PYTHONPATH"}
        mine |= {"PATH": path, "ASKED": str(tmp_path / "asked"), **variables}
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", code],
                              cwd=folder, env=mine, capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture
def github(tmp_path: Path, shell: Callable[..., str]) -> Callable[..., dict[str, str]]:
    """github(steps, {"submission": folder}) runs a job; what it said on its page, and put out."""

    def run(steps: list[dict[str, Any]], there: dict[str, Path]) -> dict[str, str]:
        work = tmp_path / "work"
        work.mkdir()
        named = {"GITHUB_STEP_SUMMARY": tmp_path / "page", "GITHUB_OUTPUT": tmp_path / "output"}
        for step in steps:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
                place = step["with"]["path"]
                shutil.copytree(there[place], work / place)
            elif "run" in step:
                secrets = {name: "token" for name in step.get("env", {})}
                shell(work, step["run"], **secrets, **{n: str(p) for n, p in named.items()})
        return {name: p.read_text() for name, p in named.items() if p.exists()}

    return run


@pytest.fixture
def handed_in(tmp_path: Path, notebook: Callable[..., bytes]) -> Path:
    """A student's repository: the notebook, and much that is none."""
    folder = tmp_path / "student"
    files = {"u00_tour/u00_tour.ipynb": notebook(GOOD), "u00_tour/course_lib/ir.py": b"x = 1"}
    repository(folder, {**files, "README.md": b"# Mine", "u00_tour/requirements.txt": b"numpy"})
    return folder


def test_classroom_gets_our_points_and_the_page_of_the_run_says_why(job, github, handed_in):
    content = job("classroom")
    grading = content["jobs"]["run-autograding-tests"]  # Classroom looks for the job by this name
    *steps, report = grading["steps"]
    said = github(steps, {"submission": handed_in})
    result = json.loads(base64.b64decode(said["GITHUB_OUTPUT"].strip().removeprefix("result=")))
    assert result["max_score"] == 10 and sum(test["score"] for test in result["tests"]) == 1
    (runner,) = report["with"]["runners"].split(",")
    (grader,) = (step["id"] for step in steps if "id" in step)
    assert report["uses"] == "classroom-resources/autograding-grading-reporter@v1"
    output = f"${{{{ steps.{grader}.outputs.result }}}}"
    assert report["env"] == {f"{runner.upper()}_RESULTS": output}
    page = said["GITHUB_STEP_SUMMARY"]
    assert "| `u00.intensity` | passed | 1 of 1 points |" in page and "**1 of 10 points**" in page
    assert "other files" not in page and "README" not in page
    asked = (handed_in.parent / "asked").read_text()
    assert "bubblewrap" in asked and "setup_env.py --venv venv --extras torch,llvm,lab" in asked


def test_github_without_classroom_runs_the_same_steps(job):
    plain, classroom = job("github"), job("classroom")
    assert plain["permissions"] == {"contents": "read"}
    assert set(plain[True]) == {"push", "workflow_dispatch"}
    (one,), (other,) = plain["jobs"].values(), classroom["jobs"].values()
    grading = {**other["steps"][-2]}
    assert grading.pop("id") and "--classroom" in grading["run"]
    grading["run"] = grading["run"].replace(' \\\n  --classroom "$GITHUB_OUTPUT"', "")
    assert one["steps"] == [*other["steps"][:-2], grading]


def test_gitlab_keeps_the_result(job, shell, handed_in):
    grading = job("gitlab")["grade"]
    assert grading["variables"]["GRADING"] == "/opt/grading"
    (handed_in / "u00_tour" / "u00_tour.ipynb").write_text("<<<<<<< HEAD")
    for line in [*grading["before_script"], *grading["script"]]:
        shell(handed_in, line, GRADING=str(handed_in.parent / "grading"))
    (kept,) = grading["artifacts"]["paths"]
    assert grading["artifacts"]["when"] == "always"
    assert "cannot be graded" in (handed_in / kept).read_text()


def test_the_teachers_own_job_grades_the_class(job, github, handed_in, tmp_path):
    content = job("class")
    assert list(content[True]) == ["workflow_dispatch"], "nobody's push starts it"
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "roster.csv").write_text("id,name\nada,Ada Lovelace\nbob,Bob Babbage\n")
    (mine / "course.toml").write_text('roster = "roster.csv"\nsecret = "turquoise okapis"\n')
    rows = f"id,url\r\nada,file://{handed_in}\r\nbob,file://{tmp_path}/nothing\r\n"
    (mine / "repositories.csv").write_text(rows)
    (grading,) = content["jobs"].values()
    github(grading["steps"], {"class": mine})
    kept = grading["steps"][-1]["with"]["path"]
    text = (tmp_path / "work" / kept / "grades.csv").read_text()
    ada, bob = csv.DictReader(text.splitlines())
    assert (ada["student"], ada["earned"], ada["status"]) == ("ada", "1", "handed in")
    assert int(ada["seed"]) > 0 and ada["file"] == "ada/u00_tour/u00_tour.ipynb"
    assert bob["status"] == "nothing handed in"


def test_no_job_of_a_students_repository_has_a_secret(course):
    for kind in ("github", "classroom", "gitlab"):
        _, content = job_file(kind, "u00", *course)
        assert b"secrets." not in content and b"--seed" not in content
        assert b"pull_request_target" not in content


@pytest.mark.parametrize(
    "bad", ['x"; rm -rf ~', "a b", "$(id)", "`id`", "-x", "", "a\nb", "${{ x }}"]
)
def test_an_address_is_an_address_and_no_command(bad):
    with pytest.raises(ValueError, match="letters, digits"):
        job_file("github", "u00", bad, "v1")
    with pytest.raises(ValueError, match="letters, digits"):
        job_file("gitlab", "u00", "https://example.org/x.git", bad)


def test_a_job_that_somebody_changed_stays(tmp_path, capsys):
    words = ["jobs", "--unit", "0", "--for", "gitlab", "--into", str(tmp_path)]
    words += ["--repository", "https://example.org/course.git", "--ref"]
    assert main([*words, "v1"]) == 0 and main([*words, "v1"]) == 0
    assert main([*words, "v2"]) == 1 and "move it away first" in capsys.readouterr().err
    assert b"v1" in (tmp_path / ".gitlab-ci.yml").read_bytes()
