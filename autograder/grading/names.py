"""Names of students: no two are ever taken for one, whatever their spelling.

    labels({"ada.ipynb": "ada", "ada (2).ipynb": "ada (2)"})  # outer name -> what remains of it
    file_name("山" * 80)     # a file name that every system takes, and that nobody else has

Two names that differ only in case, in accents typed another way, in trailing dots or in a character
that some system forbids are two names here, and two files on every file system.

Next room: submissions.py, which finds the outer names.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

MAX_BYTES = 120  # of a file name; systems take 255, and endings and temporary names need theirs
RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\..*)?", re.IGNORECASE)
TAGGED = re.compile(r"-[0-9a-f]{8}$")
UTF8 = ("utf-8", "backslashreplace")


def shortened(name: str, assignments: Iterable[str]) -> str:
    """An outer name without the assignment's name and what an LMS appends."""
    short = re.sub(r"_assignsubmission_(file|onlinetext)(_.*)?$", "", name)
    for assignment in sorted(assignments, key=len, reverse=True):
        short = re.sub(rf"[\s_.-]*{re.escape(assignment)}([\s_.-]*\(?\d+\)?)?$", "", short)
    return short.strip() or name


def labels(short: dict[str, str]) -> dict[str, str]:
    """What each outer name is called in reports: its short form where that is nobody else's."""
    label_of = {outer: printable(name) for outer, name in short.items()}
    while twice := {label for label, count in Counter(label_of.values()).items() if count > 1}:
        crowd = [outer for outer, label in label_of.items() if label in twice]
        whole = {outer: printable(outer) for outer in crowd if label_of[outer] != printable(outer)}
        label_of |= whole or {outer: f"{label_of[outer]} {_tag(outer)}" for outer in crowd}
    return label_of


def printable(name: str) -> str:
    """The name with escapes in place of what does not print: bytes that are no text, controls."""
    text = name.encode("utf-8", "surrogateescape").decode(*UTF8)
    kept = "\u200c\u200d"  # joiners, which names in some scripts need
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text
    )


def file_name(student: str) -> str:
    """A student's name as a file name. It depends on the name alone; different names differ on
    file systems that ignore case or normalize, too: a name that is not plain gets a tag."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", student).casefold())
    plain = student == folded == student.upper().lower()
    safe = "".join(c if c.isalnum() or c in "._-@+ " else "_" for c in student)
    safe = unicodedata.normalize("NFC", safe).strip(". ").encode(*UTF8)[:MAX_BYTES]
    text = safe.decode("utf-8", "ignore").rstrip(". ")
    if plain and text == student != "" and not RESERVED.fullmatch(text) and not TAGGED.search(text):
        return text
    start = "_" if RESERVED.fullmatch(text) else ""
    return f"{start}{text}-{_tag(student)}"


def _tag(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
