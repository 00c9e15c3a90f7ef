"""Feedback pages as an LMS takes them back: one zip for each assignment, in that LMS's layout.

    build/grades/returned/moodle/u02_rewrites.zip
        Ada Lovelace_4711_assignsubmission_file_/u02_rewrites.html
    build/grades/returned/canvas/u02_rewrites.zip
        lovelaceada_88_5091_u02_rewrites-1_feedback.html

Both find a student by what their own download was called, so a zip holds the pages of those whose
hand-in came with such a name, and is not made where nobody's did.

Moodle ("Upload multiple feedback files in a zip": mod/assign/feedback/file/importziplib.php, read
at 4.5): the folder is name_number_assignsubmission_file, with or without a last underscore, and the
number is the participant's. Canvas ("Upload Submissions" on an assignment's page:
infer_comment_context_from_filename): of what stands between underscores, the first two that are
digits alone are the student's number and that of the file which they handed in; the page becomes a
comment, which Canvas calls by the name of that file.

Next room: exports.py, the points.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from autograder.edition.deliver import write
from autograder.grading.book.entries import HANDED_IN, UNREAD, Entry
from autograder.grading.names import file_name

EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same zip
MOODLE = re.compile(r"[^_/\\]+_\d+_assignsubmission_(file|onlinetext)_?")
CANVAS = re.compile(r"[^_/\\]+_(LATE_)?\d+_\d+(_[^/\\]*)?", re.IGNORECASE)


def write_returned(lines: Iterable[Entry], out: Path) -> list[Path]:
    """The zips, made from the pages in out/feedback. Returns where they are."""
    zips: dict[Path, dict[str, bytes]] = {}
    for line in lines:
        if line.task is None or line.report is None or line.status not in (HANDED_IN, UNREAD):
            continue
        page = out / "feedback" / line.assignment / f"{file_name(line.student)}.html"
        for lms, inside in _places(line.task.outer, line.assignment):
            path = out / "returned" / lms / f"{line.assignment}.zip"
            zips.setdefault(path, {})[inside] = page.read_bytes()
    for path, pages in zips.items():
        write(path, _zipped(pages))
    return list(zips)


def _places(outer: str, assignment: str) -> Iterable[tuple[str, str]]:
    """(LMS, the page's name in its zip) for a hand-in with this outermost name."""
    if MOODLE.fullmatch(outer):
        yield "moodle", f"{outer}/{assignment}.html"
    elif CANVAS.fullmatch(outer):
        yield "canvas", f"{PurePosixPath(outer).stem}_feedback.html"


def _zipped(pages: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(pages.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
