"""The two programs of unit 10, on their way through MLIR's passes.

    steps("twice")       what became of transpose(transpose(a) * transpose(b)), pass by pass
    steps("own")         the same if each result has an empty tensor of its own: begin and end
    steps("mm_relu")     the passes of relu(x @ w)
    one_step()           a product of two transposes, and the product before them, drawn
    levels_table(...)    lines, and operations of each dialect, for each pass that changes something

"twice" and "own" are recorded, because one of their passes is wrong and may be right one day.
Next room: recorded.py.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

from course_lib.draw.base.picture import Picture
from course_lib.draw.graphs.graph import before_after
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.mlir.upstream.passes import Passed, State, passed
from course_lib.mlir.upstream.pipelines import PIPELINES, Pipeline
from course_lib.mlir.upstream.slides import short, shown
from lessons.u10 import recorded

N = 3
_T = f"tensor<{N}x{N}xf32>"


def _twice(*empty: str) -> str:
    """The four operations; `empty` names the tensors that stand under their `outs`."""
    allocations = "".join(f"    {name} = tensor.empty() : {_T}\n" for name in dict.fromkeys(empty))
    e, f, g, h = empty
    return f"""\
module @twice {{
  func.func @main(%a: {_T}, %b: {_T}) -> {_T} {{
{allocations}\
    %ta = linalg.transpose ins(%a : {_T}) outs({e} : {_T}) permutation = [1, 0]
    %tb = linalg.transpose ins(%b : {_T}) outs({f} : {_T}) permutation = [1, 0]
    %p = linalg.mul ins(%ta, %tb : {_T}, {_T}) outs({g} : {_T}) -> {_T}
    %tp = linalg.transpose ins(%p : {_T}) outs({h} : {_T}) permutation = [1, 0]
    return %tp : {_T}
  }}
}}
"""


TWICE = _twice("%e", "%e", "%e", "%e")
OWN = _twice("%e", "%f", "%g", "%h")
SCALREP = "func.func(affine-scalrep)"
_BUFFERS = PIPELINES["loops"].steps[:3]
LOOPS = Pipeline("from buffers to blocks", (
    *_BUFFERS,
    ("func.func(convert-linalg-to-affine-loops)", "maps become loops over affine indices"),
    ("func.func(affine-loop-fusion)", "a loop that makes values joins the loop that uses them"),
    (SCALREP, "a value that was just stored is not loaded again"),
    ("lower-affine", "affine indices become arithmetic"),
    ("convert-scf-to-cf", "loops become blocks and branches"),
))  # fmt: skip
PAGES = [short(name) for name in LOOPS.passes[len(_BUFFERS) - 1 :]]  # of walk("twice")


def mm_relu() -> Graph:
    """One matrix product and one relu."""
    x, w = inp("x", "f32[4,8]"), inp("w", "f32[8,16]")
    return Graph.of([x, w], [apply("relu", apply("matmul", x, w))], "mm_relu")


@cache
def steps(name: str) -> Passed:
    """Every state of "twice" or "mm_relu", with the tool that made it; of "own", two of them."""
    if name == "mm_relu":
        return passed(to_mlir(mm_relu()), PIPELINES["llvm"])
    kept = {"twice": recorded.TWICE, "own": recorded.OWN}[name]
    states = tuple(State(passes, text) for passes, text, _ in kept)
    return Passed(recorded.TOOL, states, recorded=recorded.FILE.words)


def walk(name: str) -> Picture:
    """The steps as pages, changed lines marked: of "mm_relu" those that change something, of
    "twice" those from the bufferization on, to be read without the lines that are gone."""
    if name == "mm_relu":
        return shown(narrow(changed(steps(name))), PIPELINES["llvm"], name)
    done = narrow(steps(name))
    done = replace(done, states=done.states[len(_BUFFERS) :])
    return shown(done, LOOPS, name, removed=False)


def changed(done: Passed) -> Passed:
    """Without the passes that found nothing to do."""
    first, *rest = done.states
    kept = [now for last, now in zip(done.states, rest, strict=False) if now.text != last.text]
    return replace(done, states=(first, *kept))


def state(name: str, pass_: str) -> str:
    """The text after a pass; "" for what came in."""
    return next(s.text for s in steps(name).states if short(s.passes) == pass_)


def folded(text: str) -> str:
    """The text with its longest lines, those of linalg.generic, in four."""
    split = re.sub(r"^( *)(.*?generic \{)(indexing_maps = .*?\]), (iterator_types.*?\}) (.*)$",
                   r"\1\2\n\1    \3,\n\1    \4\n\1    \5", text, flags=re.MULTILINE)  # fmt: skip
    return re.sub(r"^( *)(.*?) (outs.*)$", lambda m: f"{m[1]}{m[2]}\n{m[1]}    {m[3]}"
                  if len(m[0]) > 100 else m[0], split, flags=re.MULTILINE)  # fmt: skip


def matmul_as_loops() -> str:
    """The product as the first pass spells it out."""
    text = folded(state("mm_relu", "linalg-generalize-named-ops"))
    return text[text.index("    %2 = ") : text.index("    %3 = ")].rstrip()


def lines(text: str) -> int:
    """Lines of a text as it is shown, without the ends of modules, functions and loops."""
    return sum(bool(line.strip(" })")) for line in folded(text).splitlines())


def levels_table(done: Passed) -> Any:
    """For each pass that changes something: the lines after it, and which dialects they are in."""
    rows = []
    for one in changed(done).states:
        text = one.text.replace("builtin.unrealized_conversion_cast", "cast.cast")
        kinds = Counter(re.findall(r"(?<![!.\w])(tensor|linalg|memref|affine|scf|cf|llvm|cast)\.\w",
                                   text))  # fmt: skip
        operations = ", ".join(f"{dialect} {count}" for dialect, count in kinds.most_common())
        rows.append([short(one.passes) or "as it came", lines(one.text), operations])
    heads = ["after the pass", "lines", "operations, without arith and func"]
    return table(rows, heads, exact=["lines"])


def transforms() -> Picture:
    """The product tiled as a schedule in the module says."""
    done = passed(to_mlir(mm_relu()), PIPELINES["transform"])
    return shown(narrow(done), PIPELINES["transform"], "mm_relu")


def narrow(done: Passed) -> Passed:
    """The same with long lines folded."""
    states = tuple(State(passes, folded(text)) for passes, text in done.states)
    return replace(done, states=states)


def one_step() -> Picture:
    """What one step of the pattern of `u10.sunk` does to `twice`."""

    def turned(x: Node) -> Node:
        return apply("transpose", x, perm=(1, 0))

    a, b = inp("a", "f32[2,3]"), inp("b", "f32[2,3]")
    before = turned(apply("mul", turned(a), turned(b)))
    after = turned(turned(apply("mul", a, b)))
    both = (Graph.of([a, b], [result], "twice") for result in (before, after))
    return before_after(*both, title="the product moves before the transposes")
