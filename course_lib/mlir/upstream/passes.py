"""A pipeline of MLIR's, and the text of the module after every pass of it.

    done = passed(text, PIPELINES["loops"])
    done.tool                  ->   "torch-mlir 20261001"
    done.states[2]             ->   State("eliminate-empty-tensors", "module @main { ...")

Whichever tool is there runs it, all passes in one process: torch-mlir's wheel, or `mlir-opt` of
version 22. Where neither is, a recording answers if there is one of just these passes on just this
text, and says that it is one. Next room: `recordings.py`.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from course_lib.mlir.upstream.engine import available
from course_lib.mlir.upstream.pipelines import Pipeline
from course_lib.mlir.upstream.programs import program, version
from course_lib.mlir.upstream.recordings import recording_of, states

DUMP = re.compile(r"^// -----// IR Dump:? state\d+ //----- //\n", re.MULTILINE)
MISSING = (
    "no tool of MLIR's is here (torch-mlir's wheel, or mlir-opt-22 of Debian's mlir-22-tools), and "
    "there is no recording of these passes on this text"
)


class State(NamedTuple):
    """The text after a pass; of the first one the name is empty: what the tool read."""

    passes: str
    text: str


@dataclass(frozen=True)
class Passed:
    """What a tool made of a module.

    tool      its name and version
    trouble   why it stopped before the end, in its own words; empty if it did not
    recorded  words for where it is from, if it was run some other day; empty if it was run now
    """

    tool: str
    states: tuple[State, ...]
    trouble: str = ""
    recorded: str = ""


def tools() -> list[str]:
    """Those that are here, the first being the one that is used: "torch-mlir", a path."""
    path = program("mlir-opt")
    return [*["torch-mlir"] * available(), *([path] if path else [])]


def passed(text: str, pipeline: Pipeline, tool: str | None = None, seconds: float = 60) -> Passed:
    """The states of a module on its way through a pipeline.

    tool   one of `tools()`; None: the first, or a recording

    ValueError if nothing can run it. What goes wrong in a pass is `trouble` of the result.
    """
    text = pipeline.prepared(text)
    names = tools()
    if tool is not None and tool not in names:
        raise ValueError(f"{tool} is not here; there is: {', '.join(names) or 'nothing'}")
    if not names:
        kept = recording_of(text, pipeline.passes)
        if kept is None:
            raise ValueError(MISSING)
        return Passed(kept.tool, tuple(State(*s) for s in states(kept)), recorded=kept.words)
    tool = tool or names[0]
    run = _torch_mlir if tool == "torch-mlir" else _mlir_opt
    try:
        return run(tool, text, pipeline.passes, seconds)
    except subprocess.TimeoutExpired:
        raise ValueError(f"{tool} had not finished after {seconds:g} s") from None


def _torch_mlir(tool: str, text: str, passes: Sequence[str], seconds: float) -> Passed:
    command = [sys.executable, "-m", "course_lib.mlir.upstream.stepping"]
    asked = json.dumps({"text": text, "passes": list(passes)})
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=seconds)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    texts = [line["text"] for line in answers if "text" in line]
    trouble = "".join(line.get("trouble", "") for line in answers)
    if done.returncode and not trouble:
        trouble = _last_words(done)
    version = importlib.metadata.version("torch-mlir")
    return Passed(f"torch-mlir {version}", _states(passes, texts), trouble)


def _mlir_opt(tool: str, text: str, passes: Sequence[str], seconds: float) -> Passed:
    """The pass `print-ir`, put behind each of the others, writes the states."""
    steps = [f"print-ir{{label=state{k}}}" for k in range(len(passes) + 1)]
    for k, name in enumerate(passes):
        steps.insert(2 * k + 1, name)
    command = [tool, f"--pass-pipeline=builtin.module({','.join(steps)})", "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds)
    before, *texts = DUMP.split(done.stderr)
    trouble = ""
    if done.returncode:  # what the failing pass says stands behind the last text
        last, mark, message = (texts[-1] if texts else before).partition("\n<stdin>:")
        trouble = (
            f"<stdin>:{message}" if mark else last if not texts else _last_words(done)
        ).strip()
        texts = [*texts[:-1], last] if texts else []
    return Passed(f"mlir-opt {version(tool)}", _states(passes, texts), trouble)


def _states(passes: Sequence[str], texts: Sequence[str]) -> tuple[State, ...]:
    names = ["", *passes]
    return tuple(State(name, text.strip() + "\n") for name, text in zip(names, texts, strict=False))


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return f"the process ended with status {done.returncode}" + (f": {lines[0]}" if lines else "")
