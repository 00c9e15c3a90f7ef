"""The visible check of the pipeline. It runs MLIR's own passes, wherever a tool for that is.

Next room: autograder/units/u10_lab_toy/hidden.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from autograder.check.framework import Stop, Wrong, checks
from autograder.check.packages import NEEDS
from autograder.check.shown import returned
from course_lib.mlir.upstream.engine import engines
from course_lib.mlir.upstream.typed import by_dialect, lines_with, typed
from lessons.u10_lab_toy.torch import PASSES, after, computed, right

WRITE = "Write the passes that bring relu(x @ w) from linalg on tensors to LLVM's dialect"
NAMES = "the passes of the table above in the order in which they run, separated by commas"
OFTEN = "each as often as you like, with options in braces where it needs some"
LLVM = "After the last pass, every operation is one of LLVM's dialect"
MAIN = "The function @main takes three arrays, x, w and the result, and a program in C can call it"
COMPUTES = "It computes relu(x @ w) for all numbers"
MEMORY = "It frees all memory that it allocates, or allocates none"
OTHERS = "The same passes do this for other sizes, and for relu(x @ w + b) with a fourth array b"
ALLOCATES = "(?:malloc|aligned_alloc)"
RETURNS = r"llvm\.func @main\([^)]*\) ->"
CALLS = [("main", 0), ("main", 1), ("other", 2), ("biased", 4)]


@checks("u10_lab_toy.pipeline", spec=[WRITE, NAMES, OFTEN, LLVM, MAIN, COMPUTES, MEMORY, OTHERS])
def the_passes_lead_to_machine_code(pipeline):
    """Nothing but LLVM's dialect is left, and it computes relu(x @ w), and relu(x @ w + b)."""
    got = pipeline()
    if not isinstance(got, str):
        raise Wrong("The function must return the passes as text.", got=returned(got), spec=NAMES)
    try:
        names = typed(got, PASSES)
    except ValueError as error:
        raise Wrong(f"This is not a pipeline: {error}.", got=got, spec=NAMES) from None
    if not engines():
        raise Stop(f"{NEEDS}torch-mlir, or Debian's mlir-22-tools, to run your passes. Their form "
                   "is right.")  # fmt: skip
    text, tool = _lowered(got, names)
    for (name, seed), result in zip(CALLS, computed(got, CALLS), strict=True):
        wanted, spec = right(name, seed), COMPUTES if name == "main" else OTHERS
        if isinstance(result, str):
            raise Wrong(f"The module cannot be run: {_short(result)}", got=got, spec=MAIN)
        if not np.allclose(result, wanted, equal_nan=True):
            raise Wrong(f"@{name} computes {result.ravel()[:4].tolist()} ..., but must compute "
                        f"{wanted.ravel()[:4].tolist()} ...", got=got, spec=spec)  # fmt: skip
    return f"{len(names)} passes, {by_dialect(text)['llvm']} operations of LLVM's, run ({tool})"


def _lowered(got: str, names: Sequence[str]) -> tuple[str, str]:
    """The module after the passes, with LLVM's operations alone, and the tool that ran them."""
    done = after(got)
    text = done.states[-1].text if done.states else ""
    if done.trouble:
        what = f"The pass `{names[len(done.states) - 1]}` fails" if done.states else "Nothing runs"
        raise Wrong(f"{what}: {_short(done.trouble)}", got=got, spec=LLVM)
    kinds = {dialect: count for dialect, count in by_dialect(text).items() if dialect != "llvm"}
    words = ", ".join(f"{count} of {dialect}" for dialect, count in kinds.items())
    left = "|".join(kinds.keys() - {"builtin"}) or "builtin"  # casts are left by the others
    asked, given = (len(re.findall(rf"llvm\.call @{name}\(", text)) for name in (ALLOCATES, "free"))
    for wrong, problem, spec, lines in [
        (kinds, f"Operations of other dialects are left: {words}.", LLVM, rf"\b({left})\."),
        (re.search(RETURNS, text), "@main returns something, but the caller provides the memory.",
         MAIN, RETURNS),
        (asked != given, f"There are {asked} calls that allocate memory, and {given} of free.",
         MEMORY, rf"llvm\.func|@({ALLOCATES}|free)\("),
    ]:  # fmt: skip
        if wrong:
            raise Wrong(problem, program=lines_with(text, lines), got=got, spec=spec)
    return text, done.tool


def _short(trouble: str) -> str:
    """What a tool says went wrong, in a line."""
    lines = [line for line in trouble.splitlines() if "error" in line] or [trouble]
    return lines[0].partition("error:")[2].strip() or lines[0].strip()
