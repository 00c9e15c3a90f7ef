"""nbgrader with our grader in it, by configuration.

    # nbgrader_config.py of a course
    from autograder.grading.nbgrader import configure
    configure(get_config())

`nbgrader generate_assignment`, `autograde`, `formgrader`, `generate_feedback` and `export` then
work as always, and the grades in gradebook.db are those of our reports. Three of nbgrader's own
seams are used: the exporter (reads any file, however damaged), the sanitizing preprocessors (put
the release's cells back around the student's answers), the autograding ones (two processes, no
kernel).

Next room: nbgrader_course.py, the course around it, its release and its export.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades

from autograder.check.feedback import as_html
from autograder.check.verdict import Verdict, as_text
from autograder.edition.deliver import write
from autograder.edition.sources import STUB, TEXT_STUB, Source, expand, grade_id
from autograder.grading.assignment import lasting
from autograder.grading.classroom import grade_all
from autograder.grading.nbgrader_course import course_sources
from autograder.grading.neutral import neutral
from autograder.grading.program import Program, Unreadable, cells_of, read
from autograder.grading.report import Report
from autograder.grading.tasks import Task
from autograder.text.cells import IMPLEMENTS
from course_lib.exercises import slot

FETCHED = re.compile(r"""<(script|link)\b[^>]*(src|href)=["']https?:[^>]*>(\s*</script>)?""")
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; img-src data:; font-src data:\">"
)
KEY = "course"  # where a sanitized notebook keeps what was handed in


def configure(c: Any) -> None:
    """Plug our grader into an nbgrader configuration."""
    here = "autograder.grading.nbgrader"
    c.Autograde.exporter_class = f"{here}.AnyFile"
    c.Autograde.pre_convert_hook = f"{here}.find_notebook"
    c.Autograde.sanitize_preprocessors = [f"{here}.Restore"]
    c.Autograde.autograde_preprocessors = [
        f"{here}.Grade",
        f"{here}.SaveGrades",
        "nbgrader.preprocessors.AssignLatePenalties",
    ]
    c.ClearSolutions.code_stub = {"python": STUB}
    c.ClearSolutions.text_stub = TEXT_STUB
    c.GenerateFeedback.exporter_class = f"{here}.Offline"
    c.GenerateAssignment.post_convert_hook = f"{here}_course.add_library"
    c.ExportApp.plugin_class = f"{here}_course.Export"


def find_notebook(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook before a submission: a renamed file is graded under its right name."""
    folder = Path(notebooks[0]).parent
    wanted = folder / f"{folder.name}.ipynb"
    if str(wanted) in notebooks or not any(s.name == folder.name for s in course_sources()):
        return
    exercises = set(_source(folder.name).exercises())
    ranked = [(len(_answers(path) & exercises), path) for path in notebooks]
    count, best = max(ranked)
    if count:
        write(wanted, Path(best).read_bytes())
        notebooks.append(str(wanted))


class AnyFile(NotebookExporter):
    """Reads what cannot be read too: then there is one cell that says so."""

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        data = Path(filename).read_bytes()
        resources = {} if resources is None else resources
        resources["course_data"] = data
        try:
            notebook = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
        except Exception:  # damage has many names
            notebook = nbformat.v4.new_notebook(cells=_plain_cells(data))
        return self.from_notebook_node(notebook, resources=resources, **kwargs)


class Offline(HTMLExporter):
    """Feedback pages that fetch nothing: formulas stay as they were typed."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> Any:
        page, resources = super().from_notebook_node(nb, resources, **kwargs)
        return FETCHED.sub("", page).replace("<head>", f"<head>{POLICY}", 1), resources


class Restore(NbGraderPreprocessor):
    """Take the student's cells, and give them the release's metadata and locked cells back."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        source = _source(resources["nbgrader"]["notebook"])
        data = resources["course_data"]
        clean = expand(source, solutions=True)
        clean.cells = _merged(_plain_cells(data), clean.cells)
        self._set_checksums(clean, resources["nbgrader"])
        program, reason = _program(source, data)
        texts = {grade_id(name): neutral(text) for name, text in program.texts.items()}
        for cell in clean.cells:  # all that was written, where a person grades it
            cell.source = texts.get(cell.id, cell.source)
        clean.metadata[KEY] = {"program": program.to_json(), "reason": reason}
        return clean, resources

    def _set_checksums(self, nb: Any, where: dict[str, Any]) -> None:
        with Gradebook(where["db_url"]) as gradebook:
            for cell in nb.cells:
                meta = cell.metadata.get("nbgrader")
                if not meta:
                    continue
                try:
                    known = gradebook.find_source_cell(
                        meta["grade_id"], where["notebook"], where["assignment"]
                    )
                    meta["checksum"] = known.checksum
                except MissingEntry:
                    del cell.metadata["nbgrader"]  # released before this cell existed


class Grade(NbGraderPreprocessor):
    """Grade in two processes; the verdicts become the outputs of the check cells."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        where = resources["nbgrader"]
        kept = nb.metadata.pop(KEY)
        report = _report(_source(where["notebook"]), where["student"], kept)
        verdicts = {verdict.exercise.replace(".", "-"): verdict for verdict in report.verdicts}
        resources["course_verdicts"] = verdicts
        for cell in nb.cells:
            verdict = verdicts.get(_exercise_id(cell))
            if cell.cell_type == "code":
                shown = verdict is not None and cell.metadata["nbgrader"]["grade"]
                cell.outputs = [_output(verdict)] if verdict is not None and shown else []
                cell.execution_count = None
        return nb, resources


class SaveGrades(SaveAutoGrades):
    """Write our points into gradebook.db.

    A further exercise is worth 0 there, so that nbgrader's maximum is the core, and its points are
    a score of more than that. A person can only give them as extra credit, because formgrader
    takes no score above the maximum; and nbgrader counts extra credit where there is a score.
    """

    def _add_score(self, cell: Any, resources: Any) -> None:
        grade = self.gradebook.find_grade(
            cell.metadata["nbgrader"]["grade_id"],
            self.notebook_id,
            self.assignment_id,
            self.student_id,
        )
        verdict = resources["course_verdicts"].get(_exercise_id(cell))
        earned = None if verdict is None else verdict.earned
        is_open = earned is None or grade.manual_score is not None
        is_bonus = verdict is not None and verdict.further
        grade.auto_score = 0.0 if is_bonus and earned is None else earned
        grade.needs_manual_grade = is_open
        self.gradebook.db.commit()


def _report(source: Source, student: str, kept: dict[str, Any]) -> Report:
    program = Program.from_json(kept["program"])
    out = Path(os.environ.get("COURSE_GRADES", Path.cwd() / ".course-grades"))
    task = Task(student, lasting(source), source.name, program, kept["reason"])
    ((_, report),) = grade_all([task], out, jobs=1)
    return report


def _program(source: Source, data: bytes) -> tuple[Program, str]:
    try:
        explained = [n for n in source.exercises() if _is_explanation(n)]
        return read(data, explained, source.prose()), ""
    except Unreadable as error:
        return Program(), str(error)


def _is_explanation(name: str) -> bool:
    return slot(name).kind == "explain"


def _merged(student: list[Any], release: list[Any]) -> list[Any]:
    """The student's cells in their order; cells of the release that they lack, in their places."""
    place: dict[str, int] = {}  # which of the student's cells is which of the release's
    for index, cell in enumerate(student):
        for known in release:
            if "nbgrader" in known.metadata and _is_same(cell, known):
                place[known.id] = index  # the last one, as the last answer counts
    merged: list[Any] = []
    where = {index: known for known in release for i, index in place.items() if i == known.id}
    for index, cell in enumerate(student):
        known = where.get(index)
        if known is not None:
            cell.metadata, cell.id = known.metadata, known.id
            if known.metadata["nbgrader"]["locked"]:
                cell.source = known.source
        merged.append(cell)
    at = 0
    for known in release:
        if "nbgrader" not in known.metadata:
            continue
        indices = [i for i, cell in enumerate(merged) if cell.id == known.id]
        if indices:
            at = indices[0] + 1
        else:
            merged.insert(at, _emptied(known))
            at += 1
    return merged


def _is_same(cell: Any, known: Any) -> bool:
    if cell.cell_type != known.cell_type:
        return False
    meta = known.metadata["nbgrader"]
    if meta["solution"] and not meta["grade"]:
        names = [name.replace(".", "-") for name in IMPLEMENTS.findall(cell.source)]
        return meta["grade_id"] in names
    return meta["grade_id"] in cell.metadata.get("ids", ())


def _emptied(known: Any) -> Any:
    """A cell of the release that the student deleted."""
    if known.metadata["nbgrader"]["solution"]:
        known.source = TEXT_STUB if known.cell_type == "markdown" else STUB
    return known


def _plain_cells(data: bytes) -> list[Any]:
    """The student's cells without metadata and outputs; `ids` says what they call themselves."""
    try:
        contents = cells_of(data)
    except Unreadable as error:
        return [nbformat.v4.new_markdown_cell(str(error), id="unreadable")]
    cells = []
    for number, (kind, source, ids) in enumerate(contents, 1):
        if kind == "code":
            cell = nbformat.v4.new_code_cell(source, id=f"s-{number}")
        else:
            cell = nbformat.v4.new_markdown_cell(neutral(source), id=f"s-{number}")
        cell.metadata["ids"] = ids.split()
        cells.append(cell)
    return cells


def _answers(path: str) -> set[str]:
    try:
        return read(Path(path).read_bytes()).answers
    except (Unreadable, OSError):
        return set()


def _source(name: str) -> Source:
    return next(source for source in course_sources() if source.name == name)


def _exercise_id(cell: Any) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("-check")


def _output(verdict: Verdict) -> Any:
    data = {"text/plain": as_text(verdict), "text/html": as_html(verdict)}
    return nbformat.v4.new_output("display_data", data)
