"""Gradescope's zip in a clean root: unpacked, set up and run by its own two scripts.

    setup.sh         ->  apt-get and uv are stand-ins here: they write down what they are asked for,
                         and lend the packages of this environment, read-only, instead of
                         downloading 2 GB. Everything else in the script runs.
    run_autograder   ->  runs as it is, for one submission after the other

Two roots are tried. In one, root may do everything, and bubblewrap works inside it. The other
allows what Docker allows a container's root by default: there bubblewrap cannot make a namespace,
and the code of students runs as a user that nobody else is. A container of Gradescope's itself was
not tried: that needs an account.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.__main__ import main
from autograder.grading.platforms.bundle import contained
from autograder.grading.platforms.single import Settings

from .conftest import DOCKER, VENV, Root

GOOD = """
@implements("u00.intensity")
def intensity(images, inputs, outputs):
    work = images * outputs * (2 * inputs + 2)
    return work / (4 * (images * inputs + inputs * outputs + outputs + images * outputs))
"""
WRONG = """
@implements("u00.shape")
def shape(parts, cells):
    return 1, 1
"""
ENDLESS = """
@implements("accelerator.systolic.cycles")
def cycles(m, k, n, array):
    while True:
        pass
"""
# What it got at goes into the message of its error, which is what its owner reads.
HOSTILE = """
import os
from pathlib import Path
from autograder import implements

HERE = Path("/autograder")

def tried():
    for name in ("results/results.json", "run_autograder", "submission/x", "source/course/x"):
        yield f"write {name}", lambda: HERE.joinpath(name).write_text('{"score": 100}')
    for name in ("source/settings.json", "source/course/autograder/units/u00/hidden.py",
                 "submission/notebook.ipynb", "submission_metadata.json", "results/results.json"):
        yield f"read {name}", lambda: HERE.joinpath(name).read_bytes()
    for number in filter(str.isdecimal, os.listdir("/proc")):
        place = Path("/proc", number)
        yield f"seed in {number}", lambda: b"seed" in place.joinpath("cmdline").read_bytes()
        if int(number) != os.getpid():
            yield f"environment of {number}", lambda: place.joinpath("environ").read_bytes()
            yield f"memory of {number}", lambda: place.joinpath("mem").open("r+b")
            yield f"kill {number}", lambda: os.kill(int(number), 9) or True
    yield "be root", lambda: os.setuid(0) or True

def outcome(action):
    try:
        return bool(action())
    except OSError:
        return False

@implements("u00.intensity")
def intensity(images, inputs, outputs):
    outcomes = [(what, outcome(action)) for what, action in tried()]
    got = [what for what, done in outcomes if done]
    raise ValueError(f"user {os.getuid()} tried {len(outcomes)} things and got {got}")
"""
SETUP = {
    "apt-get": 'echo "apt-get $*" >> /opt/asked',
    "python3": 'echo "python3 $*" >> /opt/asked; mkdir -p /opt/uv/bin; cp /stubs/uv /opt/uv/bin/uv;'
    " cp /stubs/pip /opt/uv/bin/python",
    "pip": 'echo "python $*" >> /opt/asked',
    "uv": 'echo "uv $*" >> /opt/asked; if [ "$2" = find ]; then echo /stubs/python; fi',
    "python": f'echo "python $*" >> /opt/asked; test -f "$1" && ln -s {VENV} /opt/course',
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip of unit 0, as the command writes it, for a class with a secret."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "course.toml").write_text('secret = "turquoise okapis"\n')
    words = ["gradescope", "--unit", "0", "--into", str(folder), "--minutes", "1"]
    assert main([*words, "--course", str(folder / "course.toml")]) == 0
    return folder / "u00_tour.zip"


@pytest.fixture
def container(bundle: Path, clean_root: Callable[..., Root], tmp_path: Path) -> Callable:
    """container(caps): as Gradescope builds it: the zip unpacked, setup.sh run."""

    def build(**options: Any) -> Root:
        root = clean_root(tmp_path / "root", stubs=SETUP, **options)
        source = root.at("/autograder/source")
        shutil.unpack_archive(bundle, source)
        for info in zipfile.ZipFile(bundle).infolist():
            (source / info.filename).chmod(info.external_attr >> 16)
        done = root.run("/autograder/source/setup.sh")
        assert done.returncode == 0, done.stderr
        shutil.copy(source / "run_autograder", root.at("/autograder"))
        return root

    return build


@pytest.fixture
def grade(notebook: Callable[..., bytes]) -> Callable[..., dict[str, Any]]:
    """grade(root, code or the bytes of a file) -> results.json, as students see it or not."""

    def run(root: Root, handed_in: str | bytes) -> dict[str, Any]:
        data = notebook(handed_in) if isinstance(handed_in, str) else handed_in
        for name in ("submission", "results"):
            shutil.rmtree(root.at(f"/autograder/{name}"), ignore_errors=True)
            root.at(f"/autograder/{name}").mkdir()
        root.at("/autograder/submission/notebook.ipynb").write_bytes(data)
        root.at("/autograder/submission_metadata.json").write_text('{"users": []}')
        done = root.run("/autograder/run_autograder")
        assert "ended with status 0" in done.stdout, done.stdout + done.stderr
        results = json.loads(root.at("/autograder/results/results.json").read_text())
        valid(results)
        return results

    return run


def valid(results: dict[str, Any]) -> None:
    """Is it what "Autograder Specifications" describes, and nothing else?"""
    formats = {"text", "html", "simple_format", "md", "ansi"}
    seen = {"hidden", "after_due_date", "after_published", "visible"}
    known = {"score", "execution_time", "output", "output_format", "test_output_format", "tests",
             "test_name_format", "visibility", "stdout_visibility", "extra_data"}  # fmt: skip
    of_test = {"score": float, "max_score": float, "status": str, "name": str, "number": str,
               "output": str, "tags": list, "visibility": str}  # fmt: skip
    assert results.keys() <= known and isinstance(results["score"], float)
    assert {value for key, value in results.items() if key.endswith("format")} <= formats
    assert results["stdout_visibility"] == "hidden" and isinstance(results["output"], str)
    for test in results["tests"]:
        assert test.keys() <= of_test.keys() and test["visibility"] in seen
        assert all(isinstance(value, of_test[key]) for key, value in test.items())
        assert test.get("status") in (None, "passed", "failed")
    scores = [test["score"] for test in results["tests"] if "score" in test]
    assert sum(scores) == results["score"], "Gradescope's total is the sum of what it shows"


def test_where_bubblewrap_works(container, grade, notebook):
    root = container()
    right = grade(root, GOOD)
    assert right["score"] == 1 and right["extra_data"]["sandbox"] == "bubblewrap as nobody"
    first, *others = right["tests"]
    assert first["name"] == "u00.intensity: passed" and first["status"] == "passed"
    assert {test["status"] for test in others} == {"failed"} and len(others) == 5

    broken = grade(root, b'{"cells": [')
    (only,) = broken["tests"]
    assert broken["score"] == 0 and only["status"] == "failed" and ".ipynb" in only["output"]

    bad = grade(root, notebook(HOSTILE, ENDLESS, WRONG))
    assert bad["score"] == 0 and got_at(bad) == []
    named = {test["name"].partition(":")[0]: test for test in bad["tests"]}
    assert named["accelerator.systolic.cycles"]["name"].endswith(": timed out")
    wrong = named["u00.shape"]
    assert wrong["name"].endswith(": not yet right") and wrong["status"] == "failed"
    assert "Checked: " in wrong["output"] and '`hint("u00.shape")`' in wrong["output"]
    assert "```text" in wrong["output"] and wrong["max_score"] > wrong["score"] == 0


def test_where_docker_allows_no_namespace(container, grade):
    root = container(caps=DOCKER)
    results = grade(root, HOSTILE)
    assert results["extra_data"]["sandbox"] == "plain process as nobody" and results["score"] == 0
    assert "every user of the machine may read" in results["extra_data"]["unprotected"]
    assert got_at(results) == []
    script = root.at("/autograder/run_autograder")
    script.write_text(script.read_text().replace("--kill-after=10 54", "--kill-after=1 0.5"))
    done = root.run("/autograder/run_autograder")
    assert "ended with status 124" in done.stdout, "the time is up"
    stopped = json.loads(root.at("/autograder/results/results.json").read_text())
    valid(stopped)
    assert stopped["output"].startswith("Nothing was graded: the grader did not come to its end")
    asked = root.at("/opt/asked").read_text()
    assert "apt-get install -y --no-install-recommends bubblewrap" in asked
    assert "python course/scripts/setup_env.py --venv /opt/course" in asked


def got_at(results: dict[str, Any]) -> list[str]:
    """What the hostile code got at, which must have run, and as somebody else than root."""
    told = re.search(r"user (\d+) tried (\d+) things and got (.*)", results["tests"][0]["output"])
    assert told and int(told[1]) > 60_000 and int(told[2]) > 10, results["tests"][0]["output"]
    return json.loads(told[3].replace("'", '"'))


def test_where_nobody_else_can_be_had_nothing_runs(container, bundle, notebook):
    root = container(caps=("DAC_OVERRIDE", "FOWNER"))
    (root.at("/autograder/submission")).mkdir()
    (root.at("/autograder/results")).mkdir()
    root.at("/autograder/submission/notebook.ipynb").write_bytes(notebook(WRONG))
    done = root.run("/autograder/run_autograder")
    assert "ended with status 1" in done.stdout and "Nothing was run" in done.stderr
    results = json.loads(root.at("/autograder/results/results.json").read_text())
    valid(results)
    assert results["score"] == 0 and results["output"].startswith("Nothing was graded")


def test_the_zip_holds_what_it_needs_and_is_always_the_same(bundle):
    with zipfile.ZipFile(bundle) as archive:
        names = archive.namelist()
        settings = json.loads(archive.read("settings.json"))
    assert {"setup.sh", "run_autograder", "settings.json", "nothing.json"} < set(names)
    assert "course/autograder/units/u00/hidden.py" in names and "course/constraints.txt" in names
    tops = {name.split("/")[1] for name in names if name.count("/") > 1}
    assert tops == {"course_lib", "autograder", "lessons", "notebooks", "scripts"}, (
        "no class, no git"
    )
    assert settings["unit"] == "u00" and settings["seed"] > 0 and settings["minutes"] == 1
    again = {name for name, _ in contained(Settings("u00"))}
    assert again == set(names)
    assert not any("okapis" in str(data) for _, data in contained(Settings("u00")))
