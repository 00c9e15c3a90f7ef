"""What is in an edition of the course: file names and their bytes.

    student      notebooks with stubs; the library without the answers of this and later units
    open         notebooks with stubs; the library is the installed one, whole
    instructor   notebooks with our answers, rubrics and graded samples

Next room: build.py, which writes them without losing anybody's work.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat

import autograder
import course_lib
from autograder.solutions import without_answers
from autograder.sources import KERNEL, Source, expand, sources
from autograder.start import start_page

EDITIONS = ("open", "student", "instructor")
COURSE = Path(__file__).resolve().parent.parent

# The part of this package that runs in a student's notebook. The rest stays with the teacher.
SHIPPED = (
    "__init__.py",
    "alarm.py",
    "codec.py",
    "feedback.py",
    "framework.py",
    "judging.py",
    "notebook.py",
    "onnx_wire.py",
    "programs.py",
    "properties.py",
    "rubrics.py",
    "verdicts.py",
)
START = (
    "Run a notebook from top to bottom: it works before you have answered anything. Each exercise",
    'has a cell for your answer and a cell that checks it. `hint("name")` gives the next of three',
    "hints. What you change is never overwritten: a newer version arrives beside your file.",
)
SHIPPED_ROOMS = ("checks", "answers")


def contents(
    edition: str, unit: int | None = None, notebooks: Path | None = None
) -> dict[str, bytes]:
    """Every file of the edition, by its path in the learner's folder."""
    if edition not in EDITIONS:
        raise ValueError(f"an edition is one of {', '.join(EDITIONS)}, not {edition!r}")
    folder = notebooks or COURSE / "notebooks"
    found = sources(folder, unit)
    if not found:
        raise ValueError(f"no notebook source for {'any unit' if unit is None else f'unit {unit}'}")
    files = {
        f"{source.name}.ipynb": notebook_bytes(source, solutions=edition == "instructor")
        for source in found
    }
    index = folder / "index.md"
    whole = unit is None and index.exists()
    files["start.ipynb"] = (
        start_page(index.read_text(encoding="utf-8"), found) if whole else _list_page(found)
    )
    if edition == "student":
        files |= library(min(source.unit for source in found))
    return files


def notebook_bytes(source: Source, *, solutions: bool) -> bytes:
    """The notebook as a file: the same source gives the same bytes."""
    return (nbformat.writes(expand(source, solutions=solutions)) + "\n").encode()


def library(unit: int) -> dict[str, bytes]:
    """course_lib and the shipped part of autograder, without the answers from `unit` on."""
    files: dict[str, bytes] = {}
    for path, name in _files(Path(course_lib.__file__).parent, "course_lib"):
        files[name] = _shorn(path, unit)
    here = Path(autograder.__file__).parent
    for name in SHIPPED:
        files[f"autograder/{name}"] = (here / name).read_bytes()
    for room in SHIPPED_ROOMS:
        for folder in _room(room):
            for path, name in _files(folder, f"autograder/{room}"):
                files[name] = _shorn(path, 0)  # sample solutions never ship, of no unit
    return files


def _shorn(path: Path, unit: int) -> bytes:
    if path.suffix != ".py":
        return path.read_bytes()
    return without_answers(path.read_text(encoding="utf-8"), unit).encode()


def _room(room: str) -> list[Path]:
    import importlib

    return [Path(p) for p in importlib.import_module(f"autograder.{room}").__path__]


def _files(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not hidden:
            yield path, f"{name}/{inside.as_posix()}"


def _list_page(found: list[Source]) -> bytes:
    lines = ["# Machine-learning compilers", ""]
    lines += [f"- [{_title(source)}]({source.name}.ipynb)" for source in found]
    lines += ["", *START]
    cell = nbformat.v4.new_markdown_cell("\n".join(lines), id="start")
    page = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": dict(KERNEL)})
    return (nbformat.writes(page) + "\n").encode()


def _title(source: Source) -> str:
    for line in source.path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return source.name
