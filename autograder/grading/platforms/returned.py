"""Feedback as zips that Moodle and Canvas give back to everybody at once.

    feedback/u02_rewrites.moodle.zip    Ada Lovelace_4711_assignsubmission_file_/u02_rewrites.html
    feedback/u02_rewrites.canvas.zip    lovelaceada_88_5091_u02_rewrites-1.ipynb

They are written for whatever was handed in under the names that these platforms give: the name says
to whom the feedback goes, so only lines are in them whose student is known.

Moodle (mod/assign/feedback/file/importziplib.php, 4.x; View all submissions > Upload multiple
feedback files in a zip): a part of the path is NAME_PARTICIPANT_PLUGINTYPE_PLUGIN, as in the zip of
all submissions. Everything below it becomes a feedback file of that participant. A group's folder
has the group's number there, which Moodle would take for a participant's: so where groups hand in,
nothing is written for Moodle.

Canvas (app/models/assignment.rb, `infer_comment_context_from_filename`; Re-Upload Submissions): the
first two numbers between underscores are those of the user and of a file that the user handed in.
The student sees the feedback under the name of that file, whatever ours is called
(instructure/canvas-lms, issue 2406): so a notebook is answered with a notebook, a zip with a zip.

Next room: book/roster.py, which knows the same names; grade_class.py, which has them written.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import nbformat

from autograder.check.verdict import headline, score
from autograder.edition.sources import KERNEL
from autograder.grading.book.course import Course, Unit
from autograder.grading.book.entries import HANDED_IN, UNREAD, Entry
from autograder.grading.names import file_name
from autograder.grading.platforms.markdown import as_markdown, escaped
from course_lib.files import replacing

MOODLE = re.compile(r"(?P<folder>[^_/\\]+_\d+_assignsubmission_(file|onlinetext))(_.*)?", re.DOTALL)
CANVAS = re.compile(r"[^_/\\]+_(LATE_)?\d+_\d+_[^/\\]+\.(?P<kind>ipynb|zip)", re.IGNORECASE)
DATE = (1980, 1, 1, 0, 0, 0)


def write_returned(lines: Iterable[Entry], course: Course, out: Path) -> list[Path]:
    """The zips of all assignments, beside the feedback's folders. Returns those that were written;
    one of which nothing is left is removed."""
    known = [e for e in lines if e.report and e.task and e.status in (HANDED_IN, UNREAD)]
    made: list[Path] = []
    for name in dict.fromkeys(entry.assignment for entry in known):
        own = [entry for entry in known if entry.assignment == name]
        together = course.units.get(own[0].key, Unit()).groups
        moodle = {} if together else dict(_for_moodle(own, out))
        for platform, files in (("moodle", moodle), ("canvas", dict(_for_canvas(own)))):
            path = out / "feedback" / f"{name}.{platform}.zip"
            path.unlink(missing_ok=True)
            if files:
                made.append(_write_zip(path, files))
    return made


def _for_moodle(lines: list[Entry], out: Path) -> Iterator[tuple[str, bytes]]:
    """(path in the zip, the feedback page) of everything that has a name of Moodle's."""
    for entry in lines:
        found = MOODLE.fullmatch(_outer(entry))
        page = out / "feedback" / entry.assignment / f"{file_name(entry.student)}.html"
        if found and page.exists():
            yield f"{found['folder']}_/{entry.assignment}.html", page.read_bytes()


def _for_canvas(lines: list[Entry]) -> Iterator[tuple[str, bytes]]:
    """(file name, a notebook with the feedback, or a zip of it), by Canvas' names."""
    for entry in lines:
        name = _outer(entry)
        if found := CANVAS.fullmatch(name):
            notebook = feedback_notebook(entry)
            inside = {f"{entry.assignment}.feedback.ipynb": notebook}
            yield name, notebook if found["kind"].lower() == "ipynb" else _zipped(inside)


def feedback_notebook(entry: Entry) -> bytes:
    """All that the feedback page says, as a notebook of words."""
    report = entry.report
    assert report is not None
    total = "–" if entry.earned is None else f"{entry.earned:g}"
    final = "" if entry.final is None else f" Final: {entry.final:g}."
    head = [f"# {escaped(entry.assignment)}: feedback",
            f"**{total} of {entry.possible:g} points.**{final}",
            *(f"- {escaped(note)}" for note in (*report.notes, *entry.notes))]  # fmt: skip
    cells = ["\n\n".join(head)]
    for verdict in report.verdicts:
        title = f"## `{verdict.exercise}`: {headline(verdict)}"
        cells.append("\n\n".join([title, score(verdict), as_markdown(verdict)]))
    made = [nbformat.v4.new_markdown_cell(text, id=f"f-{n}") for n, text in enumerate(cells)]
    notebook = nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": dict(KERNEL)})
    return (nbformat.writes(notebook) + "\n").encode("utf-8", "replace")


def _outer(entry: Entry) -> str:
    """The outermost name, if it is one: text, and no way out of a folder."""
    name = entry.task.outer if entry.task else ""
    try:
        name.encode()
    except UnicodeEncodeError:
        return ""
    return name if PurePosixPath(name).name == name and name != ".." else ""


def _write_zip(path: Path, files: dict[str, bytes]) -> Path:
    with replacing(path) as unfinished:
        unfinished.write_bytes(_zipped(files))
    return path


def _zipped(files: dict[str, bytes]) -> bytes:
    """A zip that is the same whenever it is made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, data)
    return buffer.getvalue()
