"""`python -m course_lib tune`: search schedules for a model's kernels, and keep those that gain.

    python -m course_lib tune model.onnx --beam 4 --budget 60 -o model.tuned.json --json
    ->  {"default_ms": 3.1, "tuned_ms": 2.6, "speedup": 1.19, "tried": 412, "kernels": [...]}
    python -m course_lib run model.onnx --tuned model.tuned.json

A budget is in seconds. `--resume FILE` goes on where another run has ended. Next room:
`run.py`, another command.
"""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from course_lib.bridges.cluster import INSECURE
from course_lib.commands.infra.options import number
from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.schedule.search.tuned import load_tuned

HELP = "search faster schedules for the kernels of a model"

MOST_JOBS = 64  # each is a process that imports the compiler


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands beside a model and its inputs."""
    about_a_model(sub)
    sub.add_argument("--beam", type=number(1), default=4, metavar="WIDTH",
                     help="candidates that go on after each decision (4)")  # fmt: skip
    sub.add_argument("--depth", type=number(1), default=4, metavar="N",
                     help="decisions of a schedule at most (4)")  # fmt: skip
    sub.add_argument("--budget", type=float, default=60, metavar="SECONDS",
                     help="for the whole model (60)")  # fmt: skip
    sub.add_argument("--measure", choices=("model", "time", "both"), default="both",
                     help="what decides: the cost model, the clock, or the clock among those that "
                     "the model proposes (both)")  # fmt: skip
    sub.add_argument("--jobs", type=number(1, MOST_JOBS), default=1, metavar="N",
                     help="processes that measure at a time (1)")  # fmt: skip
    sub.add_argument("--farm", metavar="HOST:PORT", help="measure on a Dask cluster of machines "
                     "like this one, with the certificates of Dask's configuration")  # fmt: skip
    sub.add_argument("--insecure", action="store_true", help="use the farm without certificates")
    sub.add_argument("--threads", type=number(1), metavar="N",
                     help="threads for a kernel (all processors)")  # fmt: skip
    sub.add_argument("--direct", action="store_true", help="no convolution by Winograd, whose sums "
                     "differ in their last bits")  # fmt: skip
    sub.add_argument("--resume", metavar="FILE", help="do not search these kernels again")
    sub.add_argument("-o", "--output", metavar="FILE", help="write the tuned schedules")


def tune(options: Namespace) -> Result:
    """Tune a model; the file and the folder of what is kept have the schedules afterwards."""
    from course_lib.tune.tune import How, tune  # llvmlite is heavy

    if not 0 < options.budget < math.inf:
        given = f"got {options.budget:g}"
        raise ValueError(f"--budget must be more than 0 seconds, and finite; {given}")
    how = How(
        options={"width": options.beam, "depth": options.depth},
        decides=options.measure,
        jobs=options.jobs,
        farm=options.farm,
        insecure=options.insecure,
        seed=options.seed,
        threads=options.threads,
        direct=options.direct,
    )
    resume = load_tuned(options.resume) if options.resume else None
    path = options.output or options.resume
    if path and not Path(path).resolve().parent.is_dir():
        raise ValueError(f"{path}: there is no such folder")
    if options.farm and options.insecure:
        print(INSECURE.format(address=options.farm), file=sys.stderr)
    task = prepare(options)
    with bar(options.budget) as progress:
        report = tune(task.model, task.inputs, options.budget, how, resume, path, progress)
    data: dict[str, Any] = {"model": str(options.model), **report.as_dict()}
    kinds = {"convolutions by Winograd": data["convolutions"], "groups of nodes": data["groups"]}
    lines = [_choice(what, choice) for what, choice in kinds.items() if choice and choice["tried"]]
    lines += [_row(kernel) for kernel in data["kernels"]]
    lines += ["", f"{data['tried']} schedules tried in {data['seconds']:.0f} s"]
    gain = f"{data['default_ms']:.3f} ms, tuned {data['tuned_ms']:.3f} ms"
    lines.append(f"the model: default {gain}, {data['speedup']:.2f} times as fast")
    if path:
        data["written"] = str(path)
        lines.append(f"wrote {path}")
    return Result("\n".join(lines), data)


def _choice(what: str, choice: dict[str, Any]) -> str:
    """A row for what was decided for the whole graph."""
    head = f"{what:44} {'':6}  {choice['tried']:4} tried  "
    pairs = {"measured": choice["measured"], "predicted": choice["predicted"]}
    gains = [f"{a / b:.2f}x {how}" for how, (a, b) in pairs.items() if a and b]
    return head + (choice["why"] or ", ".join(gains))


def _row(kernel: dict[str, Any]) -> str:
    what = f"{kernel['kernel'][:44]:44} {kernel['share']:6.1%}  {kernel['tried']:4} tried  "
    if kernel["schedule"] is None:
        return what + (kernel["why"] or "the default")
    guess = kernel["predicted_speedup"]
    return what + f"{kernel['measured_speedup']:.2f}x measured, {guess:.2f}x predicted"


@contextmanager
def bar(seconds: float) -> Iterator[Any]:
    """A progress bar for people, if they have tqdm."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    form = "{percentage:3.0f}%|{bar:20}| {postfix}"
    with tqdm(total=seconds, disable=not sys.stderr.isatty(), bar_format=form) as shown:

        def progress(done: float, words: str) -> None:
            shown.n = min(done, seconds)
            shown.set_postfix_str(words)

        yield progress
