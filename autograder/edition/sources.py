"""Notebook sources: MyST Markdown in, cells out. The one place that knows the source format.

    ```{code-cell} ipython3          the only content of the cell: expanded by the build into the
    %exercise passes.dce             heading, the stub (or solution), and the check cell
    ```

Everything else in a source is what it looks like: Markdown, and code cells that are run. The stub's
signature and text come from the library, so they cannot drift. docs/authoring.md has the whole
format.

Next room: deliver.py, which writes the notebooks of an edition.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder.check.hints import ladder
from autograder.check.keys import called, is_lab, key_in, key_of
from autograder.check.rubrics import TEXT_STUB
from autograder.edition.minutes import about, core, estimate, further
from autograder.edition.parsed import FURTHER, parsed, pointer
from autograder.edition.solutions import imports_of_signature, signature_line, solution_body
from course_lib.exercises import Slot, load_all, slot, slots

CORE_MINUTES, FURTHER_MINUTES = "%core-minutes", "%further-minutes"
FOR_TOOLS = re.compile(r" *# fmt: \w+$", re.MULTILINE)  # says nothing to a reader
STUB = 'raise NotImplementedError("write your answer here")'
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
READ_ALONE = """\
# Once you have written your text and saved the notebook: what earns points, and graded answers.
check("{}")"""
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KIND_WORDS = {
    "implement": "write a function of the compiler",
    "inverse": "find an example",
    "evidence": "read the evidence",
    "number": "a number",
    "budget": "as good as you can",
    "explain": "explain, graded by hand",
}


@dataclass(frozen=True)
class Source:
    """One notebook source: u02_rewrites.md is unit 2, u07_lab_matmul.md a lab beside unit 7."""

    path: Path

    @property
    def key(self) -> str:
        """What it is as an assignment: "u02", "u07_lab_matmul"."""
        return key_in(self.name)

    @property
    def is_lab(self) -> bool:
        return is_lab(self.key)

    @property
    def unit(self) -> int:
        """Whose library its students have: a lab has that of its unit."""
        return int(self.path.name[1:3])

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def title(self) -> str:
        """What its first heading says."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return next((line[2:].strip() for line in lines if line.startswith("# ")), self.name)

    def exercises(self) -> list[str]:
        """The names of the slots that it points to, in order."""
        return [name for cell in self.cells() if (name := pointer(cell))]

    def prose(self) -> frozenset[str]:
        """The texts of its Markdown cells."""
        texts = (cell.source for cell in self.cells() if cell.cell_type == "markdown")
        return frozenset(self.with_minutes(text).strip() for text in texts)

    def with_minutes(self, text: str) -> str:
        """A text of the notebook, with the estimates in place of `%core-minutes` and
        `%further-minutes`."""
        if CORE_MINUTES not in text and FURTHER_MINUTES not in text:
            return text
        sections = estimate(self.cells())
        text = text.replace(CORE_MINUTES, str(about(core(sections))))
        return text.replace(FURTHER_MINUTES, str(about(further(sections))))

    def worth(self) -> str:
        """What it is worth, and what its further exercises add: "12 points, 6 bonus"."""
        entries = [slot(name) for name in self.exercises()]
        core = sum(entry.points for entry in entries if not entry.further)
        bonus = sum(entry.points for entry in entries if entry.further)
        return f"{core:g} points, {bonus:g} bonus" if bonus else f"{core:g} points"

    def cells(self) -> list[Any]:
        """As they stand in the source; nobody changes them."""
        return parsed(self.path.read_text(encoding="utf-8")).cells


def sources(folder: Path, only: int | str | None = None) -> list[Source]:
    """The notebook sources in `folder`, each lab after its unit; of a number, that unit's notebook
    alone, of a key ("u07_lab_matmul") that one."""
    found = sorted(map(Source, folder.glob("u[0-9][0-9]_*.md")), key=lambda source: source.key)
    return [source for source in found if only is None or source.key == key_of(only)]


def expand(source: Source, *, solutions: bool) -> Any:
    """The notebook: with our answers in it (the instructor's), or with stubs (the student's)."""
    cells: list[Any] = []
    for cell in source.cells():
        name = pointer(cell)
        if name:
            cells += exercise_cells(slot(name), solutions)
        else:
            cells.append(_plain(cell, source))
    _unique_ids(cells)
    problems = _problems(source, source.cells())
    if problems:
        raise ValueError(f"{source.path.name}: " + "; ".join(problems))
    return nbformat.v4.new_notebook(
        cells=cells,
        metadata={"kernelspec": dict(KERNEL), "language_info": {"name": "python"}},
    )


def exercise_cells(entry: Slot, solutions: bool) -> list[Any]:
    """Heading, answer, check: or heading and text box for an explanation."""
    if entry.kind == "explain":
        return [_heading(entry), _explanation(entry, solutions)]
    return [_heading(entry), _answer(entry, solutions), _check(entry, solutions)]


def with_readings(notebook: Any) -> Any:
    """The notebook for whoever learns alone: each explanation has a cell below it, too, which shows
    its rubric and graded answers once it is written. In a class a person reads it."""
    explained = {grade_id(entry.name): entry for entry in slots() if entry.kind == "explain"}
    cells: list[Any] = []
    for cell in notebook.cells:
        cells.append(cell)
        if entry := explained.get(cell.id):
            text = READ_ALONE.format(entry.name)
            cells.append(nbformat.v4.new_code_cell(text, id=f"{cell.id[:58]}-check"))
    notebook.cells = cells
    return notebook


def grade_id(name: str) -> str:
    """nbgrader allows letters, digits, - and _ in its ids."""
    return name.replace(".", "-")


def _heading(entry: Slot) -> Any:
    text = f"#### Exercise `{entry.name}` · {_points(entry)} · {KIND_WORDS[entry.kind]}"
    if ladder(entry):
        text += f'\n\nStuck? `hint("{entry.name}")` gives the next of three hints.'
    if entry.kind == "explain":
        text += f"\n\n{entry.doc}"
    return _markdown(text, f"{grade_id(entry.name)}-title")


def _points(entry: Slot) -> str:
    bonus = "bonus " if entry.further else ""
    return f"{entry.points:g} {bonus}point{'' if entry.points == 1 else 's'}"


def _answer(entry: Slot, solutions: bool) -> Any:
    lines = imports_of_signature(entry.reference)
    lines += ["", ""] if lines else []
    lines += [f'@implements("{entry.name}")', signature_line(entry.reference)]
    lines += _docstring(entry.doc)
    if solutions:
        body = [BEGIN, *solution_body(entry.reference), END]
    else:
        body = [STUB]
    lines += [f"    {line}".rstrip() for line in body]
    return _code(lines, grade_id(entry.name), _nbgrader(entry, "", solution=True))


def _check(entry: Slot, solutions: bool) -> Any:
    lines = [f'check("{entry.name}")']
    if solutions:
        hidden = [f"# the grader runs the hidden checks of {entry.name} in a process of its own"]
        lines += ["### BEGIN HIDDEN TESTS", *hidden, "### END HIDDEN TESTS"]
    meta = _nbgrader(entry, "-check", grade=True, locked=True)
    cell = _code(lines, f"{grade_id(entry.name)}-check", meta)
    cell.metadata.update(deletable=False, editable=False)
    return cell


def _explanation(entry: Slot, solutions: bool) -> Any:
    text = TEXT_STUB
    if solutions:
        rubric = entry.reference()
        text = f"{BEGIN}\n{rubric.as_markdown()}\n{END}"
    cell = _markdown(text, grade_id(entry.name))
    meta = _nbgrader(entry, "", grade=True, solution=True)
    cell.metadata = nbformat.from_dict({"nbgrader": {**meta, "cell_type": "markdown"}})
    return cell


def _nbgrader(
    entry: Slot, suffix: str, grade: bool = False, solution: bool = False, locked: bool = False
) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": grade_id(entry.name) + suffix,
        "grade": grade,
        "solution": solution,
        "locked": locked,
        "task": False,
        "cell_type": "code",
    }
    # nbgrader sums up what the cells are worth: a bonus adds to the score alone
    return {**meta, "points": 0 if entry.further else entry.points} if grade else meta


def _docstring(doc: str) -> list[str]:
    raw = "r" if "\\" in doc else ""
    end = "\n" if "\n" in doc else ""
    text = textwrap.indent(f'{raw}"""{doc}{end}"""', "    ")
    return [line.rstrip() for line in text.split("\n")]


def _plain(cell: Any, source: Source) -> Any:
    tags = cell.metadata.get("tags")
    metadata: dict[str, Any] = {"tags": list(tags)} if tags else {}
    if tags and "hide-input" in tags:  # the website folds by the tag, JupyterLab by this
        metadata["jupyter"] = {"source_hidden": True}
    if cell.cell_type == "code":
        make, text = nbformat.v4.new_code_cell, FOR_TOOLS.sub("", cell.source)
    else:
        make, text = nbformat.v4.new_markdown_cell, source.with_minutes(cell.source)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return make(text, metadata=metadata, id=f"c-{digest}")


def _code(lines: list[str], cell_id: str, meta: dict[str, Any]) -> Any:
    return nbformat.v4.new_code_cell("\n".join(lines), metadata={"nbgrader": meta}, id=cell_id[:64])


def _markdown(text: str, cell_id: str) -> Any:
    return nbformat.v4.new_markdown_cell(text, metadata={}, id=cell_id[:64])


def _unique_ids(cells: list[Any]) -> None:
    seen: dict[str, int] = {}
    for cell in cells:
        count = seen[cell.id] = seen.get(cell.id, 0) + 1
        if count > 1:
            cell.id = f"{cell.id}-{count}"


def _problems(source: Source, cells: list[Any]) -> list[str]:
    names = [name for cell in cells if (name := pointer(cell))]
    problems = [f"{n} appears twice" for n in dict.fromkeys(names) if names.count(n) > 1]
    problems += [
        f"{n} belongs to {called(slot(n).key)}" for n in names if slot(n).key != source.key
    ]
    if source.is_lab and source.key != source.name:
        problems.append(f"the name of a lab is one word: {source.key}")
    load_all()
    own = [entry.name for entry in slots(source.unit) if entry.key == source.key]
    missing = [name for name in own if name not in names]
    problems += [f"no cell points to {name}" for name in missing]
    return problems + _misplaced(cells)


def _misplaced(cells: list[Any]) -> list[str]:
    """Core exercises stand above the heading "Further", further ones below it."""
    problems, below = [], False
    for cell in cells:
        name = pointer(cell)
        if cell.cell_type == "markdown":
            below = below or FURTHER.search(cell.source) is not None
        elif name and slot(name).further and not below:
            problems.append(f"{name} is a further exercise and stands above a heading '## Further'")
        elif name and below and not slot(name).further:
            problems.append(f"{name} belongs to the core and stands below the heading 'Further'")
    return problems
