"""What is in an edition of the course: file names and their bytes.

    student      notebooks with stubs; the library without the answers of this and later units;
                 what to install, and how (handout.py)
    open         notebooks with stubs; the library is the installed one, whole, with the rubrics,
                 and a copy to read lies beside them
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
import lessons
from autograder.check.keys import key_of
from autograder.edition.chart import chart
from autograder.edition.deliver import START, TO_READ
from autograder.edition.folds import divided
from autograder.edition.handout import handout, with_first_cell, with_minutes
from autograder.edition.leaks import leaked
from autograder.edition.requirements import COURSE
from autograder.edition.shipped import ships
from autograder.edition.solutions import without_answers
from autograder.edition.sources import KERNEL, Source, expand, sources, with_readings
from autograder.edition.start import dashboard_cells, start_page
from autograder.progress.keep import MAP

EDITIONS = ("open", "student", "instructor")

AT_HOME = ("`README.md` says how to install what a notebook needs, and how to hand it in.",)
UNREADABLE = (".npz",)
COPY = """\
This is a copy of the library, for reading. The notebooks use another copy, so changes here have no
effect. Begin with [course_lib/compiler.py](course_lib/compiler.py): the last line at its top names
the next of twelve files that lead from a model to machine code. "Next room" at the top of a file
names a neighbour of it.
"""
COPIES = "Your function must not change its arguments; let it work on copies."  # on both pages
HOW_TO = (
    "Run a notebook from top to bottom: it works before you have answered anything. Each exercise",
    f"has a cell for your answer and a cell that checks it. {COPIES}",
    '`hint("name")` gives the next of three hints. What you change is never overwritten: a newer',
    "version arrives beside your file.",
)


def contents(
    edition: str,
    unit: int | str | None = None,
    notebooks: Path | None = None,
    minutes: bool = False,
) -> dict[str, bytes]:
    """Every file of the edition, by its path in the learner's folder: of all units and labs, of a
    unit (7), or of a lab ("u07_lab_matmul"). `minutes`: the class is asked for measured ones."""
    if edition not in EDITIONS:
        raise ValueError(f"an edition is one of {', '.join(EDITIONS)}, not {edition!r}")
    folder = notebooks or COURSE / "notebooks"
    notebook_sources = sources(folder, unit)
    if not notebook_sources:
        raise ValueError(f"no notebook source for {'any unit' if unit is None else key_of(unit)}")
    how = {
        "solutions": edition == "instructor",
        "handed_out": edition == "student",
        "alone": edition == "open",
        "minutes": minutes and edition == "student",
    }
    files = {f"{source.name}.ipynb": notebook_bytes(source, **how) for source in notebook_sources}
    index = folder / "index.md"
    whole = unit is None and index.exists()
    text = index.read_text(encoding="utf-8") if index.exists() else ""
    files[str(MAP)] = chart(text, notebook_sources)
    if edition == "student":  # the library itself lies there
        text = text.replace("library/", "").replace("`library`", "`course_lib`")
        files |= beside(notebook_sources)
    elif edition == "open" or whole:  # not with the solutions of one unit: it has those of all
        files |= to_read()
    return files | {
        START: start_page(text, notebook_sources)
        if whole
        else _list_page(notebook_sources, edition)
    }


def notebook_bytes(
    source: Source,
    *,
    solutions: bool,
    handed_out: bool = False,
    alone: bool = False,
    minutes: bool = False,
) -> bytes:
    """The notebook as a file: the same source gives the same bytes. One that is handed out to be
    run elsewhere begins with a look at what is installed there; whoever learns alone can compare
    what they explained with graded answers."""
    notebook = divided(expand(source, solutions=solutions))
    if handed_out:
        notebook = with_first_cell(notebook)
    if alone:
        notebook = with_readings(notebook)
    if minutes:
        notebook = with_minutes(notebook)
    return (nbformat.writes(notebook) + "\n").encode()


def beside(handed_out: list[Source]) -> dict[str, bytes]:
    """What lies beside notebooks that are handed out: the library, and how to install the rest.
    ValueError if that library holds an answer of the first unit among them or of a later one."""
    first = min(source.unit for source in handed_out)
    if left := answers_left(first):
        raise ValueError(f"{handed_out[0].name} would give answers away. {'; '.join(left)}")
    files = library(first)
    files["autograder/__main__.py"] = files["autograder/progress/__main__.py"]
    return files | handout(handed_out, files)


def library(unit: int) -> dict[str, bytes]:
    """course_lib, lessons and what ships of autograder, without the answers from `unit` on."""
    return {name: _shorn(path, first) for name, path, first in _shipped(unit)}


def answers_left(unit: int) -> list[str]:
    """Which answers of `unit` and later units that library still holds, and where."""
    shipped = [one for one in _shipped(unit) if one[1].suffix == ".py"]
    firsts = {name: first for name, _, first in shipped}
    files = {
        name: (path.read_text(encoding="utf-8"), _shorn(path, first).decode())
        for name, path, first in shipped
    }
    return leaked(files, firsts.__getitem__)


def _shipped(unit: int) -> Iterator[tuple[str, Path, int]]:
    """Each file that students get: its name, where it is, and the first unit whose answers it must
    not hold. Sample solutions never ship, of no unit."""
    for path, name in _files(Path(course_lib.__file__).parent, "course_lib"):
        yield name, path, unit
    for path, name in _files(Path(lessons.__file__).parent, "lessons"):
        yield name, path, 0
    here = Path(autograder.__file__).parent
    for path, name in _files(here, "autograder"):
        inside = path.relative_to(here)
        if ships(inside) and inside.parts[0] != "units":
            yield name, path, 0
    yield "autograder/units/__init__.py", here / "units" / "__init__.py", 0
    for folder in _units():
        for path, name in _files(folder, f"autograder/units/{folder.name}"):
            if ships(PurePath("units", folder.name, path.relative_to(folder))):
                yield name, path, 0


def to_read() -> dict[str, bytes]:
    """A copy of the library to read beside the notebooks, which run the installed one."""
    there = _files(Path(course_lib.__file__).parent, f"{TO_READ}course_lib")
    files = {name: path.read_bytes() for path, name in there if path.suffix not in UNREADABLE}
    return {**files, f"{TO_READ}README.md": COPY.encode()}


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


def _list_page(notebook_sources: list[Source], edition: str) -> bytes:
    lines = ["# Machine-learning compilers", ""]
    lines += [f"- [{s.title}]({s.name}.ipynb). {s.worth()}." for s in notebook_sources]
    lines += ["", *HOW_TO, *(AT_HOME if edition == "student" else ())]
    first = nbformat.v4.new_markdown_cell("\n".join(lines), id="start")
    cells = [first, *dashboard_cells()]
    page = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": dict(KERNEL)})
    return (nbformat.writes(page) + "\n").encode()
