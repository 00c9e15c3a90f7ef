"""The wheel and the source archive: the whole compiler, and of the autograder what students have.

    pip wheel . --no-deps     -> course_lib-0.1.0-py3-none-any.whl, the files of `library(...)`

Built as a user builds them, from a copy of the repository, and installed into an empty folder.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from autograder.edition.contents import COURSE, library
from autograder.edition.solutions import without_answers
from course_lib import __version__

AFTER_ALL = 100  # no unit is this late: the library keeps its own functions, it is the compiler
BUILD_ARCHIVE = "from setuptools import build_meta; build_meta.build_sdist({into!r})"


def python(*arguments: str, **options) -> str:
    """What Python prints; a failure shows all of it."""
    made = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **options)
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


def wheel_of(folder: Path, into: Path) -> dict[str, bytes]:
    """Build a wheel of a source folder, offline; every file of it but the metadata."""
    offline = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")
    python("-m", "pip", "wheel", ".", *offline, "--wheel-dir", str(into), cwd=folder)
    with zipfile.ZipFile(next(into.glob("*.whl"))) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        return {name: archive.read(name) for name in names}


def copy_of(root: Path, folder: Path) -> None:
    """What a package is built from, and a build that an older version left behind."""
    for name in ("course_lib", "autograder", "lessons"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for pattern in ("*.toml", "*.in", "*.md", "setup.py", "LICENSE*"):
        for file in root.glob(pattern):
            shutil.copy(file, folder)
    left = folder / "build" / "lib" / "autograder" / "units" / "u02"
    left.mkdir(parents=True)
    (left / "hidden.py").write_text("")


@pytest.fixture
def source(once, root) -> Path:
    return once("source", lambda folder: copy_of(root, folder))


@pytest.fixture
def wheel(once, source) -> Path:
    return next(once("wheel", lambda folder: wheel_of(source, folder)).glob("*.whl"))


@pytest.fixture
def installed(once, wheel) -> Path:
    """A folder with the wheel alone; the packages that it needs come from this environment."""
    offline = ("--no-deps", "--no-index", "--no-compile", "--quiet")
    return once("installed", lambda folder: python(
        "-m", "pip", "install", *offline, "--target", str(folder), str(wheel)))  # fmt: skip


@pytest.fixture
def run(installed, tmp_path, monkeypatch):
    """Runs Python in a folder of its own, with the installed wheel in front of everything."""
    monkeypatch.setenv("PYTHONPATH", str(installed))
    return lambda *arguments: python(*arguments, cwd=tmp_path)


def test_the_wheel_has_the_compiler_and_what_students_have(wheel):
    with zipfile.ZipFile(wheel) as archive:
        made = {n: archive.read(n) for n in archive.namelist() if ".dist-info/" not in n}
    units = {folder.name for folder in (COURSE / "autograder" / "units").iterdir()}
    expected = {
        name: content
        for name, content in library(AFTER_ALL).items()  # other tests may have units of their own
        if not name.startswith("autograder/units/u") or name.split("/")[2] in units
    }
    assert made.keys() == expected.keys()
    assert [name for name in made if made[name] != expected[name]] == []


def test_nothing_that_grades_and_no_answer_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        units = [n for n in archive.namelist() if n.startswith("autograder/units/u")]
        others = {n.split("/")[1] for n in archive.namelist() if n.startswith("autograder/")}
        texts = [archive.read(n).decode() for n in units if n.endswith(".py")]
    assert len(units) > 100
    assert [name for name in units if re.search(r"/(hidden|mutants)(/|\.py)", name)] == []
    files = {"__init__.py", "mine.py", "notebook.py"}
    assert others == {*files, "check", "process", "progress", "text", "units", "wire"}
    assert any("-> Rubric" in text for text in texts)
    assert not any("Rubric(" in text for text in texts), "a rubric's samples are the teacher's"
    assert [text for text in texts if without_answers(text, 0) != text] == []
    assert sum(text.count("raise NotAnswered(") for text in texts) > 50


def test_the_source_archive_gives_the_same_wheel(source, wheel, tmp_path):
    python("-c", BUILD_ARCHIVE.format(into=str(tmp_path)), cwd=source)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        # Python 3.11.4 brought filters, and 3.14 wants one.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(tmp_path)
    unpacked = tmp_path / f"course_lib-{__version__}"
    names = [path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*.py")]
    assert [n for n in names if re.search(r"hidden|mutants|grading|soundness", n)] == []
    with zipfile.ZipFile(wheel) as archive:
        expected = {n: archive.read(n) for n in archive.namelist() if ".dist-info/" not in n}
    assert wheel_of(unpacked, tmp_path / "again") == expected
    answers = (source / "autograder/units/u00/exercises.py").read_text()
    assert "Rubric(" in answers, "building has changed the sources themselves"


def test_the_installed_wheel_has_a_command_that_lists_the_ops(run, installed):
    assert "matmul" in run(installed / "bin" / "course", "ops")


def test_the_installed_wheel_compiles_the_mlp(run, installed):
    said = run(
        "-c",
        """
import course_lib
from course_lib.models import MODELS, example_inputs
x = example_inputs("mlp")
print(course_lib.__file__)
print(course_lib.compile(MODELS["mlp"].build(), x)(*x).shape)
""",
    )
    assert said.split("\n")[:2] == [f"{installed}/course_lib/__init__.py", "(1, 10)"]


def test_the_installed_wheel_checks_an_exercise(run):
    said = run(
        "-c",
        """
from autograder import check, hint, implements
@implements("u00.intensity")
def intensity(images, inputs, outputs):
    work = images * outputs * (2 * inputs + 2)
    return work / (4 * (images * inputs + inputs * outputs + outputs + images * outputs))
print(check("u00.intensity"))
print(check("u00.claims").kind, hint("u00.intensity"))
""",
    )
    assert "passed" in said and "not attempted" in said, said
