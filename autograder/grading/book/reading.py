"""Points for explanations by keyboard: names hidden, one answer after the other.

    python -m autograder read --out build/grades

    u02.meaning, answer 3 of 41                     (2 points)
      Dead code has no path to an output ...
    points, or c s u r q: 2

Digits give points at once; `c` takes a line with points and a comment (`1.5 half of it`), `s`
leaves the answer for later, `u` takes the last points back, `r` shows the rubric, `q` ends. Who
wrote an answer is not shown, and each exercise has an order of its own, drawn from names and
exercise, so that nobody is always read last and a later run goes on in the same order. Each
answer's points are in by-hand.csv before the next answer is shown: the power may fail. The file is
read anew each time, so what a spreadsheet saved in other lines stays, and no text gets points that
were meant for an earlier one.

Next room: by_hand.py, the file; grade_class.py, which adds these points.
"""

from __future__ import annotations

import hashlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.check.keys import key_in
from autograder.check.rubrics import Rubric
from autograder.grading.book.by_hand import FILE, HEAD, NEEDED, Key
from autograder.grading.book.tables import Row, read_table, write_table
from autograder.grading.names import printable
from course_lib.exercises import UnknownExercise, slot

EXPLANATION = "explanation"
ASK = "points, or c (comment) s (later) u (undo) r (rubric) q (quit): "
ENDED = ("q", "\x03", "\x04", "")
LINE = re.compile(r"\s*(\d+(?:[.,]\d+)?)(?:\s+(.*))?", re.DOTALL)
Ask = Callable[[str], str]  # what was typed: a key, or a line; "" where there is no more


@dataclass(frozen=True)
class Answer:
    """One explanation that has no points yet."""

    key: Key
    text: str
    possible: float
    seen: str = ""  # a short name of the text

    @property
    def exercise(self) -> str:
        return self.key[2]


def waiting(path: Path, only: str | None = None) -> list[Answer]:
    """The explanations without points, exercise by exercise, each in an order of its own.

    `only` is the name or the key of an assignment, or of an exercise. Raises ValueError where the
    file is missing or is no table.
    """
    if not path.exists():
        raise ValueError(f"{path} does not exist: grade first")
    found = []
    for row in read_table(path, NEEDED):
        answer = _answer(row)
        if row.get("what") == EXPLANATION and not row["points"] and _is_meant(answer.key, only):
            found.append(answer)
    return sorted(found, key=lambda a: (a.key[1], a.exercise, _shuffled(a.key)))


def give(path: Path, answer: Answer, points: str, comment: str) -> bool:
    """Write these points into the file, whose other lines stay as they are now. False, and nothing
    is written, where the line is gone or its text is another one by now."""
    rows = read_table(path, NEEDED)
    head = [*HEAD, *(name for name in (rows[0] if rows else ()) if name not in HEAD)]
    meant = [r for r in rows if _key(r) == answer.key and r.get("seen", "") == answer.seen]
    if not meant:
        return False
    for row in meant:
        row["points"], row["comment"] = points, comment
    write_table(path, head, [[row.get(name, "") for name in head] for row in rows], mark=True)
    return True


def read_answers(out: Path, only: str | None, ask: Ask, say: Callable[[str], None]) -> int:
    """The whole session. Returns how many answers got points in it."""
    path = out / FILE
    answers = waiting(path, only)
    given: list[int] = []
    where, shown, rubric = 0, "", True
    try:
        while where < len(answers):
            answer = answers[where]
            if answer.exercise != shown or rubric:
                say(_rubric(answer))
                shown, rubric = answer.exercise, False
            say(_shown(answers, where))
            typed = ask(ASK)
            if typed in ENDED:
                break
            if typed == "u":
                where = _taken_back(path, answers, given, where, say)
            elif typed == "r":
                rubric = True
            elif typed == "s":
                where += 1
            elif _points_given(path, answer, typed, ask, say):
                given.append(where)
                where += 1
    except KeyboardInterrupt:
        say("")
    left = len(waiting(path, only))
    say(f"Read: {len(given)}. Still without points: {left}. The points count when you grade again.")
    return len(given)


@contextmanager
def keyboard() -> Iterator[Ask]:
    """Keys one by one at a terminal; elsewhere (a pipe, an editor) a line for each answer."""
    if not sys.stdin.isatty():
        yield _line
        return
    # Windows has no such modules; there, WSL is what the course runs in
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def ask(prompt: str) -> str:
        if prompt != ASK:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            return _line(prompt)
        tty.setcbreak(terminal, termios.TCSADRAIN)  # before anybody is asked to type
        print(prompt, end="", flush=True)
        try:
            key = sys.stdin.read(1)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        print(key if key.isprintable() else "")
        return key

    try:
        yield ask
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _line(prompt: str) -> str:
    print(prompt, end="", flush=True)
    return sys.stdin.readline().strip() or "q"


def _points_given(
    path: Path, answer: Answer, typed: str, ask: Ask, say: Callable[[str], None]
) -> bool:
    """Write what was typed, if it is points; else say what would be."""
    line = ask("points and comment: ") if typed == "c" else typed
    found = LINE.fullmatch(line)
    points = float(found[1].replace(",", ".")) if found else -1.0
    if not found or points > answer.possible:
        say(f"{answer.exercise} has 0 to {answer.possible:g} points: nothing was written.")
        return False
    if not give(path, answer, f"{points:g}", (found[2] or "").strip()):
        say("This answer has changed since it was shown: left for later, nothing was written.")
    return True


def _taken_back(
    path: Path, answers: list[Answer], given: list[int], where: int, say: Callable[[str], None]
) -> int:
    if not given:
        say("Nothing was given yet in this session.")
        return where
    last = given.pop()
    give(path, answers[last], "", "")
    return last


def _rubric(answer: Answer) -> str:
    """What gives points, and the samples with theirs; nothing where the exercise is not known."""
    try:
        rubric = slot(answer.exercise).reference()
    except UnknownExercise:
        rubric = None
    title = f"\n== {answer.exercise}, {answer.possible:g} points =="
    if not isinstance(rubric, Rubric):
        return title
    samples = [f"({s.points:g} of {answer.possible:g}) {s.text}" for s in rubric.samples]
    return "\n".join([title, _wrapped(rubric.criteria), *map(_wrapped, samples)])


def _shown(answers: list[Answer], where: int) -> str:
    answer = answers[where]
    same = [n for n, one in enumerate(answers) if one.exercise == answer.exercise]
    head = f"\n{answer.exercise}, answer {same.index(where) + 1} of {len(same)}"
    return f"{head} (0 to {answer.possible:g} points)\n{_wrapped(answer.text)}"


def _wrapped(text: str) -> str:
    """Text for a terminal: whoever wrote it cannot move its cursor or colour it."""
    lines = (printable(line.expandtabs(4)) for line in text.splitlines() or [""])
    return "\n".join(textwrap.fill(line, 96, initial_indent="  ", subsequent_indent="  ")
                     for line in lines)  # fmt: skip


def _answer(row: Row) -> Answer:
    try:
        possible = float(row.get("possible", "").replace(",", ".") or 0)
    except ValueError:
        raise ValueError(f"{FILE}, line {row.line}: possible is {row['possible']!r}") from None
    return Answer(_key(row), row.get("text", ""), possible, row.get("seen", ""))


def _key(row: Row) -> Key:
    return row["student"], row["assignment"], row["exercise"]


def _is_meant(key: Key, only: str | None) -> bool:
    _, assignment, exercise = key
    return only is None or only in (assignment, key_in(assignment), exercise)


def _shuffled(key: Key) -> bytes:
    return hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).digest()
