"""What is in an edition of the course: file names and their bytes.

    student      notebooks with stubs; the library without the answers of this and later units
    open         notebooks with stubs; the library is the installed one, whole
    instructor   notebooks with our answers, rubrics and graded samples

Next room: deliver.py, which writes them without losing anybody's work.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

import nbformat

import autograder
import autograder.units
import course_lib
from autograder.edition.shipped import ships
from autograder.edition.solutions import without_answers
from autograder.edition.sources import KERNEL, Source, expand, sources
from autograder.edition.start import start_page

EDITIONS = ("open", "student", "instructor")
COURSE = Path(__file__).resolve().parents[2]

START = (
    "Run a notebook from top to bottom: it works before you have answered anything. Each exercise",
    'has a cell for your answer and a cell that checks it. `hint("name")` gives the next of three',
    "hints. What you change is never overwritten: a newer version arrives beside your file.",
)


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
    for path, name in _files(here, "autograder"):
        inside = path.relative_to(here)
        if ships(inside) and inside.parts[0] != "units":
            files[name] = path.read_bytes()
    files["autograder/units/__init__.py"] = (here / "units" / "__init__.py").read_bytes()
    for folder in _units():
        for path, name in _files(folder, f"autograder/units/{folder.name}"):
            if ships(PurePath("units", folder.name, path.relative_to(folder))):
                files[name] = _shorn(path, 0)  # sample solutions never ship, of no unit
    return files


def _shorn(path: Path, unit: int) -> bytes:
    if path.suffix != ".py":
        return path.read_bytes()
    return without_answers(path.read_text(encoding="utf-8"), unit).encode()


def _units() -> list[Path]:
    folders = (folder for path in autograder.units.__path__ for folder in Path(path).iterdir())
    return sorted(folder for folder in folders if (folder / "__init__.py").is_file())


def _files(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not hidden:
            yield path, f"{name}/{inside.as_posix()}"


def _list_page(found: list[Source]) -> bytes:
    lines = ["# Machine-learning compilers", ""]
    lines += [f"- [{_title(s)}]({s.name}.ipynb). {s.worth()}." for s in found]
    lines += ["", *START]
    cell = nbformat.v4.new_markdown_cell("\n".join(lines), id="start")
    page = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": dict(KERNEL)})
    return (nbformat.writes(page) + "\n").encode()


def _title(source: Source) -> str:
    for line in source.path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return source.name
