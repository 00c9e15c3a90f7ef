"""`python -m course_lib bench`: a model in many systems, in turns, and what may be said of them.

    python -m course_lib bench mlp --systems course,onnxruntime,openvino --threads 1,2
    python -m course_lib bench model.onnx --json model.json --html model.html

Each system runs in a process of its own on the same processors, and has to be right in float64.
Ctrl-C ends it: what was found until then is shown and written. Next room:
`course_lib/peers/contest.py`.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from course_lib.commands.infra.compare import system
from course_lib.commands.infra.options import number
from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.files import write
from course_lib.models import MODELS
from course_lib.peers.around import machine
from course_lib.peers.contest import USUAL, Tell, check_threads, contest
from course_lib.peers.model import Model, named
from course_lib.peers.peer import PEERS
from course_lib.peers.report import Report

HELP = "how fast is a model in this compiler and in others?"


def arguments(sub: ArgumentParser) -> None:
    about_a_model(sub)
    sub.add_argument("--systems", type=systems, default=USUAL, metavar="A,B,…",
                     help=f"all, or of these: {', '.join(PEERS)} (those that compile within "
                     f"seconds: {', '.join(USUAL)})")  # fmt: skip
    sub.add_argument("--threads", type=counts, default=[1], metavar="N,M,…",
                     help="numbers of threads, one after the other (1)")  # fmt: skip
    sub.add_argument("--seconds", type=duration, default=2.0, metavar="S",
                     help="for each system and number of threads, over all rounds (2)")  # fmt: skip
    sub.add_argument("--rounds", type=number(1), default=7, metavar="R",
                     help="turns of each system; fewer than 6 tell nothing apart (7)")  # fmt: skip
    sub.add_argument("--html", metavar="FILE", help="write the report as one page")


def json_option(sub: ArgumentParser) -> None:
    """Unlike that of other commands, it takes a file."""
    sub.add_argument("--json", nargs="?", const=True, default=False, metavar="FILE",
                     help="one JSON object, in a file or on the last line")  # fmt: skip


def systems(words: str) -> tuple[str, ...]:
    """Names between commas, or `all`."""
    if words == "all":
        return tuple(PEERS)
    return tuple(dict.fromkeys(system(word.strip()) for word in words.split(",")))


def counts(words: str) -> list[int]:
    """Numbers of threads between commas."""
    return list(dict.fromkeys(map(number(1), words.split(","))))


def duration(word: str) -> float:
    """Seconds, as a number above 0."""
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise ArgumentTypeError(f"it takes a number of seconds above 0, got {word[:40]!r}")
    return seconds


def bench(options: Namespace) -> Result:
    """Compare the systems, and write what was asked for. Status 1: nobody has a time."""
    files = {"json": options.json if isinstance(options.json, str) else None, "html": options.html}
    check_threads(options.threads)
    for path in filter(None, files.values()):
        _check_place(path)
    task = prepare(options)
    course = options.model in MODELS and not Path(options.model).exists()
    model = Model(named(options.model), task.model, tuple(task.inputs), of_the_course=course)
    around = machine()
    with progress(1 + (2 + options.rounds) * len(options.systems) * len(options.threads)) as tell:
        found = contest(model, options.systems, options.threads, options.rounds, options.seconds,
                        tell)  # fmt: skip
    report = Report(found, around, _command(options))
    lines = [report.text]
    for kind, path in files.items():
        if path is not None:
            text = json.dumps(report.data) + "\n" if kind == "json" else report.page
            lines.append(_written(path, text))
    timed = any(found.timed(count) for count in options.threads)
    failed = not timed or any(line.startswith("error: ") for line in lines)
    return Result("\n\n".join(lines), report.data, 130 if found.interrupted else int(failed))


def _check_place(path: str) -> None:
    """ValueError in words, before minutes of work, if the file cannot be written later."""
    folder = Path(path).resolve().parent
    if Path(path).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: it is a folder, or there is none for it")


def _written(path: str, text: str) -> str:
    """What to say of a file; a disk that is full by now must not cost what was measured."""
    try:
        return f"written to {write(path, text)}"
    except OSError as error:
        return f"error: {error}"


def _command(options: Namespace) -> str:
    """What makes the report again."""
    given = [
        *(["--inputs", options.inputs] if options.inputs else []),
        *(word for frozen in options.freeze for word in ("--freeze", frozen)),
        *(["--seed", str(options.seed)] if options.seed else []),
        *("--systems", "all" if options.systems == tuple(PEERS) else ",".join(options.systems)),
        *("--threads", ",".join(map(str, options.threads))),
        *("--seconds", f"{options.seconds:g}", "--rounds", str(options.rounds)),
    ]
    return shlex.join(["python", "-m", "course_lib", "bench", options.model, *given])


@contextmanager
def progress(steps: int) -> Iterator[Tell]:
    """A progress bar for people, if they have tqdm."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda words: None
        return
    form = "{percentage:3.0f}%|{bar:20}| {elapsed} {postfix}"
    quiet = not sys.stderr.isatty()
    with tqdm(total=steps, disable=quiet, bar_format=form, leave=False) as bar:

        def tell(words: str) -> None:
            bar.update()
            bar.set_postfix_str(words)

        yield tell
