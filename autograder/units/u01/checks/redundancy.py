"""Checks of unit 1 for what need not run. Next room: programs.py, the programs to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.check.framework import Wrong, background, checks
from autograder.units.u01.checks.programs import PROGRAMS

REASONS = "What need not run for every image: a dict from the result of a line to the reason"
LINES = "`lines` is a program as an ONNX file has it, in order; each line is (result, op, operands)"
NAMES = "A name that is neither in `inputs` nor the result of a line is a trained weight"
OUTPUTS = "and that is not in `outputs`"
ABSORBED = "a `BatchNormalization` whose first operand is the result of a `Conv`"
COPY = "the operation is `Identity`"

background("u01.redundant", "No operation here draws random numbers",
           because="what the programs of the checks do not have")  # fmt: skip


@checks("u01.redundant", spec=[REASONS, LINES, *(spec for *_, spec in PROGRAMS)])
def finds_what_need_not_run(redundant):
    """Small programs, each with one thing to find or to leave alone."""
    for lines, wanted, why, spec in PROGRAMS:
        same_reasons(redundant, lines, ["x", "y"], [lines[-1][0]], wanted, why, spec)
    same_reasons(redundant, [], ["x"], ["x"], {}, "A program without lines.", REASONS)
    return f"{len(PROGRAMS) + 1} small programs"


@checks("u01.redundant", spec=NAMES)
def takes_any_names(redundant):
    """What a name sounds like says nothing: only `inputs` and the lines do."""
    lines = [
        ("w", "Mul", ["input", "weight"]),
        ("bias", "Relu", ["image"]),
        ("y", "Add", ["w", "x"]),
    ]
    for inputs, wanted in (
        (["weight"], {"bias": "fixed"}),
        (["image", "x"], {"w": "fixed"}),
        ([], {"w": "fixed", "bias": "fixed", "y": "fixed"}),
    ):
        why = f"The inputs are {', '.join(inputs) or 'none'}; all other names are weights."
        same_reasons(redundant, lines, inputs, ["y"], wanted, why, NAMES)
    return "misleading names"


@checks("u01.redundant", spec=[OUTPUTS, ABSORBED, COPY])
def keeps_results(redundant):
    """A convolution whose result is an output keeps its batch norm."""
    lines = [("c", "Conv", ["x", "w"]), ("b", "BatchNormalization", ["c", "s", "o", "m", "v"])]
    why = "The program returns c as well, so c must be computed as it is."
    for outputs in (["c", "b"], ["b", "c"], ["c"]):
        same_reasons(redundant, lines, ["x"], outputs, {}, why, OUTPUTS)
    why = "b is returned, and computed by the convolution."
    same_reasons(redundant, lines, ["x"], ["b"], {"b": "absorbed"}, why, ABSORBED)
    lines = [("k", "Constant", []), ("a", "Identity", ["x"])]
    same_reasons(redundant, lines, ["x"], ["a", "k"], {"k": "fixed", "a": "copy"},
                 "What is returned need not run for every image either.", COPY)  # fmt: skip
    return "operations whose result is an output"


def same_reasons(
    redundant: Any, lines: Any, inputs: Any, outputs: Any, wanted: Any, why: str, spec: str
) -> None:
    got = redundant([(a, op, list(b)) for a, op, b in lines], list(inputs), list(outputs))
    if not isinstance(got, Mapping):
        raise Wrong(
            "The result must be a dict from names to reasons.", got=repr(got)[:200], spec=REASONS
        )
    if dict(got) != dict(wanted):
        raise Wrong(
            why,
            program="\n".join(f"{a} = {op}({', '.join(b)})" for a, op, b in lines)
            + f"\ninputs: {', '.join(inputs)}; outputs: {', '.join(outputs)}",
            got=repr(dict(got)),
            expected=repr(dict(wanted)),
            spec=spec,
        )
