"""Recordings of this checkout, and what becomes of one that is made again.

    every(["u06"])                 ->  the files of unit 6 that are recordings
    about(file)                    ->  Outcome(name="lessons/u06/llc.txt", tool="llc 22.1.8", ...)
    outcome(file, named=False)     ->  the same, .became "same", "changed", "lacking", ...

A maker runs in a process of its own, because tools do not get along in one. What a recording is
stands in `course_lib/recorded.py`, what makes one in `course_lib/maker.py`. Next room: `result.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import course_lib
from course_lib.files import write
from course_lib.maker import Maker, maker_of, remade
from course_lib.measure.apart import Apart, Ended, Said, answer_all
from course_lib.recorded import HEAD, Recording, read

ROOT = Path(course_lib.__file__).parent.parent
ROOMS = ("course_lib", "lessons", "autograder")
FIRST = f"{HEAD}tool: "
PATIENCE = 3600.0  # seconds that a maker may take


@dataclass(frozen=True)
class Outcome:
    """What became of a recording.

    became  same, changed (it was written), differs (it was not), lacking, left, failed; "" if it
            was not tried
    word    why
    """

    name: str
    tool: str
    by: str
    became: str = ""
    word: str = ""


def every(names: Sequence[str] = (), root: Path = ROOT) -> list[Path]:
    """The recordings under the root, or those with one of these words in their paths.

    ValueError for a word that is in none of them.
    """
    files = sorted(file for room in ROOMS for file in (root / room).rglob("*") if _is_one(file))
    shown = {file: file.relative_to(root).as_posix() for file in files}
    for name in names:
        if not any(name in path for path in shown.values()):
            raise ValueError(f"{name!r} is in the path of no recording; --list shows all")
    return [file for file in files if not names or any(name in shown[file] for name in names)]


def _is_one(file: Path) -> bool:
    if file.suffix in (".py", ".pyc", ".so") or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(FIRST)) == FIRST.encode()


def about(file: Path, root: Path = ROOT) -> Outcome:
    """Who makes it, and what is missing for that; nothing is run."""
    kept = read(file)
    found, word = _maker(kept)
    if found and not word:
        word = f"about {found.seconds:g} s; compared: {found.compared}"
    by = kept.by if found or ":" in kept.by.partition(" ")[0] else "nobody"
    return Outcome(file.relative_to(root).as_posix(), kept.tool, by, "", word)


def outcome(file: Path, named: bool = False, check: bool = False, root: Path = ROOT) -> Outcome:
    """Make it again, and write it if it has changed and is not only to be checked.

    named  was asked for, so it is made although it depends on the machine
    """
    kept, known = read(file), about(file, root)
    found, word = _maker(kept)
    if found is None or word:
        return replace(known, became="lacking", word=word)
    if found.machine != "any" and not named:
        return replace(known, became="left", word="it depends on the machine: name it")
    try:
        now = _texts(kept.by)
    except (Ended, ValueError) as error:
        return replace(known, became="failed", word=str(error))
    like = "" if found.compared == "every character" else f"compared: {found.compared}"
    if dict(kept.texts) == now or (check and found.same(kept.texts, now)):
        return replace(known, became="same", word=like)
    if check:
        return replace(known, became="differs", word=_first_difference(kept, now))
    write(file, str(remade(kept, found, now)))
    return replace(known, became="changed", word=like or _first_difference(kept, now))


def _maker(kept: Recording) -> tuple[Maker | None, str]:
    """Its maker, and what that one lacks here; or None, and why there is none."""
    try:
        found = maker_of(kept.by)
    except ModuleNotFoundError as error:
        return None, f"{error.name} is not here"
    if found is None:
        return None, kept.by or "nothing says who makes it"
    return found, found.lacking


def _first_difference(kept: Recording, now: Said) -> str:
    if list(kept.texts) != list(now):
        return f"the texts are {', '.join(now)}"
    name = next(name for name in now if kept.texts[name] != now[name])
    return f"the first text that is another one: {name}"


def _texts(by: str) -> dict[str, str]:
    """What the maker makes in a process of its own. Ended or ValueError, in words, if it fails."""
    seen = "/dev/stderr" if sys.stderr.isatty() else None  # a maker says what it does: for minutes
    process = Apart(__name__, errors=seen)
    try:
        answer = next(process.ask({"by": by}, PATIENCE))
    finally:
        process.stop()
    if "failed" in answer:
        raise ValueError(answer["failed"])
    return answer["texts"]


# ── the other side ──


def main() -> None:
    """Answer requests, a line each, until there are no more."""
    answer_all(lambda request, say: _answer(request))


def _answer(request: Said) -> Said:
    found = maker_of(request["by"])
    assert found is not None
    try:
        return {"texts": found()}
    except Exception as error:  # tools raise what they like
        return {"failed": f"{type(error).__name__}: {error}"}
