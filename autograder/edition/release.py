"""What a class gets: one folder for each unit and lab, and the same as a zip.

    python -m autograder release --unit 2 --into build/release

    build/release/u02_rewrites/       the notebook, with the library that makes it run
    build/release/u02_rewrites.zip    the same, for an LMS

Next room: autograder/validate.py, to run before this; grading/classroom.py, for what comes back.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path

from autograder.check.keys import key_of
from autograder.edition.contents import COURSE, contents
from autograder.edition.deliver import write
from autograder.edition.sources import sources

EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same zip


def release(
    into: Path,
    unit: int | str | None = None,
    notebooks: Path | None = None,
    edition: str = "student",
    minutes: bool = False,
) -> list[Path]:
    """Write an edition of each unit and lab, or of one, afresh. Returns the folders. ValueError if
    students would get an answer of that unit or a later one. `minutes`: a last cell of the notebook
    shows the minutes that its student has measured, if any, so that they are handed in with it."""
    folders = []
    for source in sources(notebooks or COURSE / "notebooks", unit):
        files = contents(edition, source.key, notebooks, minutes=minutes)
        folder = into / source.name
        partial = into / f".{source.name}.part"
        shutil.rmtree(partial, ignore_errors=True)
        for name, data in files.items():
            write(partial / name, data)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
        write(into / f"{source.name}.zip", _zipped(files, source.name))
        folders.append(folder)
    if not folders:
        raise ValueError(f"no notebook source for {'any unit' if unit is None else key_of(unit)}")
    return folders


def _zipped(files: dict[str, bytes], top: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"{top}/{name}", EPOCH), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
