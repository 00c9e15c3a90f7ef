"""Production compilers on the row of unit 8: LLVM's dependence analysis, Polly, GCC's Graphite.

What needs a tool that may be missing is recorded; a word says which of the two is shown. Next room:
autograder/units/u08/checks.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_lib.draw.plots.table import table
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.polyhedra.dependences import dependences
from course_lib.llvm.jit import emit_module
from course_lib.recorded import recorded
from lessons.u08.stencils import CELLS, STEPS, miss_table, row, scheduled

OPT, CLANG, GCC = "opt-22", "clang-22", "gcc"
ACCESSES = ("read out[i - 1]", "read out[i]", "read out[i + 1]", "write out[i]")
TOOLS = ("opt", "polly", "graphite")
BY_LLVM, BY_CLANG, BY_GCC = (recorded(__file__, f"{tool}.txt") for tool in TOOLS)
# What LLVM says of each pair of accesses, of which at least one writes.
LLVM: dict[tuple[int, int], str] = {
    (int(pair[0]), int(pair[-1])): text for pair, text in BY_LLVM.data("pairs").items()
}
C = f"""float out[{CELLS}];
void row(void) {{
  for (long t = 0; t < {STEPS}; ++t)
    for (long i = 1; i < {CELLS - 1}; ++i)
      out[i] = 0.25f * out[i - 1] + 0.5f * out[i] + 0.25f * out[i + 1];
}}
"""
POLLY, GRAPHITE = BY_CLANG["bands"].splitlines(), BY_GCC["bands"].splitlines()


def tool(name: str) -> str | None:
    return shutil.which(name)


def llvm_says() -> tuple[dict[tuple[int, int], str], str]:
    """LLVM's dependence analysis on the code that we make of the row, by pair of accesses, and a
    word on where it is from."""
    if tool(OPT) is None:
        return dict(LLVM), BY_LLVM.words
    command = [OPT, "-passes=print<da>", "-disable-output"]
    text, _ = emit_module(row())
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    lines = re.findall(r"Src:(.*)--> Dst:(.*)\n *da analyze - (?:consistent )?(.*)!", done.stderr)
    numbers = {text: k for k, text in enumerate(dict.fromkeys(end.strip() for _, end, _ in lines))}
    pairs = {(numbers[a.strip()], numbers[b.strip()]): verdict for a, b, verdict in lines}
    return {p: verdict for p, verdict in pairs.items() if 3 in p}, "opt-22 ran just now"


def analysis_table() -> tuple[Any, str]:
    """For each pair of accesses to `out`, what LLVM says, and what we say."""
    verdicts, word = llvm_says()
    ours: dict[tuple[int, int], list[str]] = {pair: [] for pair in verdicts}
    for dependence in dependences(row().body):
        first, second = _number(dependence.pair.first), _number(dependence.pair.second)
        ours[min(first, second), max(first, second)].append(
            f"{dependence.kind} {dependence.distance}"
        )
    rows = [[f"{ACCESSES[a]}, {ACCESSES[b]}", text, "; ".join(ours[a, b])]
            for (a, b), text in verdicts.items()]  # fmt: skip
    return table(rows, ["accesses", "LLVM's DependenceAnalysis", "ours, as (t, i)"]), word


def _number(access: Any) -> int:
    return 3 if access.way == "write" else access.indices[0].const + 1


def polly() -> tuple[list[str], str]:
    """Polly's schedule of the row in C, outer bands first, and where it is from."""
    if tool(CLANG) is None:
        return POLLY, BY_CLANG.words
    flags = "-O3 -mllvm -polly -mllvm -polly-position=early -mllvm -polly-print-opt-isl"
    command = [CLANG, *flags.split(), *["-c", "-o", "/dev/null", "-x", "c", "-"]]
    done = subprocess.run(command, input=C, capture_output=True, text=True)
    bands = _bands(done.stdout + done.stderr)
    return (bands, "clang-22 ran just now") if bands else (POLLY, BY_CLANG.words)


def graphite() -> tuple[list[str], str]:
    """GCC's schedule of the row in C, outer bands first, and where it is from."""
    kept = GRAPHITE, BY_GCC.words
    if tool(GCC) is None:
        return kept
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder, "graphite.txt")
        flags = ["-O3", "-floop-nest-optimize", f"-fdump-tree-graphite-all={dump}", "-c"]
        command = [GCC, *flags, "-x", "c", "-", "-o", str(Path(folder, "row.o"))]
        subprocess.run(command, input=C, capture_output=True, text=True)
        text = dump.read_text() if dump.exists() else ""
    bands = _bands(text.split("isl transformed schedule")[-1].split("AST")[0]) if text else []
    return (bands, "gcc ran just now") if bands else kept


def _bands(text: str) -> list[str]:
    bands = re.findall(r'schedule: *"(\[\{.*\}\])"', text)
    return list(dict.fromkeys(bands))


def in_squares(side: int) -> Kernel:
    """The loops that both generate for blocks of side × side, as Graphite's dump has them."""
    last = CELLS - 3  # i - 1 of the last cell
    low = f"max(0, {side}*b - {side}*a - {last})"
    first = f"{side}*a - {side}*b + c"
    cell = f"{side}*b - {side}*a - c + d"
    mean = f"0.25 * out[{cell}] + 0.5 * out[{cell} + 1] + 0.25 * out[{cell} + 2]"
    return parse_kernel(f"""
kernel @row(out: f32[{CELLS}]) {{
  for a in 0..{-(-STEPS // side)} {{ for b in a..a + {1 + -(-(CELLS - 2) // side)} {{
    for c in {low}..min({side}, {STEPS} - {side}*a) {{
      for d in max(0, {first})..min({side}, {first} + {last + 1}) {{
        out[{cell} + 1] = {mean}
  }} }} }} }}
}}""")


def compilers_table(yours: Sequence[tuple[str, str]] = ()) -> Any:
    """Misses of the loops that each compiler chose, counted by our simulator."""
    named = {"Polly: 32 × 32": in_squares(32), "Graphite: 51 × 51": in_squares(51)}
    own = {name: scheduled(row(), steps) for name, steps in yours}
    return miss_table({"as written": row(), **named, **own})
