"""Checks of unit 1 for what need not run. Next room: programs.py, the programs to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.units.u01.checks.programs import COPY, LINES, PROGRAMS, lines_of

REASONS = "What need not run for every image: a dict from the result of a line to the reason"
NAMES = "A name that is neither in `inputs` nor the result of a line is a trained weight"
OUTPUTS = "and that is not in `outputs`"
ABSORBED = "a `BatchNormalization` whose first operand is the result of a `Conv`"


@checks("u01.redundant", spec=[REASONS, LINES, *(spec for *_, spec in PROGRAMS)])
def finds_what_need_not_run(redundant):
    """Small programs, each with one thing to find or to leave alone."""
    for program, wanted, why, spec in PROGRAMS:
        lines = lines_of(program)
        same_reasons(redundant, lines, ["x", "y"], [lines[-1][0]], wanted, why, spec)
    same_reasons(redundant, [], ["x"], ["x"], {}, "A program without lines.", REASONS)
    return f"{len(PROGRAMS) + 1} small programs"


@checks("u01.redundant", spec=NAMES)
def takes_any_names(redundant):
    """A name by itself says nothing: only `inputs` and the lines do."""
    lines = lines_of("w = Mul input weight; bias = Relu image; y = Add w x")
    for inputs, wanted in (
        (["weight"], {"bias": "fixed"}),
        (["image", "x"], {"w": "fixed"}),
        ([], {"w": "fixed", "bias": "fixed", "y": "fixed"}),
    ):
        why = f"The inputs are {', '.join(inputs) or 'none'}; all other names are weights."
        same_reasons(redundant, lines, inputs, ["y"], wanted, why, NAMES)
    return "misleading names"


# (lines, outputs, reasons, what is wrong otherwise, words of the specification); the input is x
_ABSORBS = "c = Conv x w; b = Norm c s o m v"
_BOTH = "The program returns c as well, so c must be computed as it is."
KEPT: list[tuple[str, str, dict[str, str], str, str]] = [
    *((_ABSORBS, outputs, {}, _BOTH, OUTPUTS) for outputs in ("c b", "b c", "c")),
    (_ABSORBS, "b", {"b": "absorbed"}, "b is returned, and computed by the convolution.", ABSORBED),
    ("k = Constant; a = Identity x", "a k", {"k": "fixed", "a": "copy"},
     "What is returned need not run for every image either.", COPY),
]  # fmt: skip


@checks("u01.redundant", spec=[OUTPUTS, ABSORBED, COPY])
def keeps_results(redundant):
    """A convolution whose result is an output keeps its batch norm."""
    for program, outputs, wanted, why, spec in KEPT:
        same_reasons(redundant, lines_of(program), ["x"], outputs.split(), wanted, why, spec)
    return "operations whose result is an output"


def same_reasons(
    redundant: Any, lines: Any, inputs: Any, outputs: Any, wanted: Any, why: str, spec: str
) -> None:
    got = redundant([(a, op, list(b)) for a, op, b in lines], list(inputs), list(outputs))
    if not isinstance(got, Mapping):
        problem = "The result must be a dict from names to reasons."
        raise Wrong(problem, got=repr(got), spec=REASONS)
    if dict(got) != dict(wanted):
        text = [f"{a} = {op}({', '.join(b)})" for a, op, b in lines]
        text.append(f"inputs: {', '.join(inputs)}; outputs: {', '.join(outputs)}")
        raise Wrong(why, program="\n".join(text), got=repr(dict(got)), expected=repr(dict(wanted)),
                    spec=spec)  # fmt: skip
