"""`python -m course_lib record`: make what other tools said anew, with the tools that are here.

    python -m course_lib record                 ->  each recording: same, changed, or what it lacks
    python -m course_lib record u06 --check     of unit 6; writes nothing, status 1 if one differs
    python -m course_lib record --list          who makes which; nothing is run

A file is written when its texts have changed, each as soon as it is made. What depends on the
machine is made again only if it is named. Next room: `infra/remaking.py`.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from course_lib.commands.infra.remaking import Outcome, about, every, outcome
from course_lib.commands.infra.result import Result
from course_lib.draw.plots.table import table

HELP = "make what other tools said anew, with the tools that are installed"
WRONG = ("differs", "failed")


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands."""
    sub.add_argument("names", nargs="*", metavar="NAME",
                     help="recordings, or parts of their paths: u06/llc, u06, llc")  # fmt: skip
    what = sub.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true",
                      help="compare, write nothing; exit status 1 if one differs")  # fmt: skip
    what.add_argument("--list", action="store_true", help="run nothing: who makes which recording")


def record(options: Namespace) -> Result:
    """Make them one after the other; each that has changed is written at once."""
    found: list[Outcome] = []
    for file in every(options.names):
        done = (about(file) if options.list
                else outcome(file, named=bool(options.names), check=options.check))  # fmt: skip
        found.append(done)
        if not options.list:
            print(f"{done.name}: {done.became}", file=sys.stderr, flush=True)
    rows = [[one.name, one.tool, one.by if options.list else one.became, one.word]
            for one in found]  # fmt: skip
    heads = ["recording", "tool", "made by" if options.list else "it is", "because"]
    status = int(any(one.became in WRONG for one in found))
    return Result(str(table(rows, heads)), {"recordings": [asdict(one) for one in found]}, status)
