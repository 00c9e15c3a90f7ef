"""A page for each op, from its row of the op table, and one page that lists them.

    OPS["matmul"]   ->   ops/matmul.md     text, attributes, element types, its meaning in numpy,
                                           what comes in as it, an example with values, its loops

Nothing on a page is typed here: what an op accepts is tried, what it gives is computed, the nest is
what lowering makes of it. Next: `importers.py`, which finds out what comes in as which op.
"""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from course_lib.commands.ops import ops as listing
from course_lib.ir.attributes import ATTR_KINDS, REQUIRED
from course_lib.ir.graph.build import alone
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import KINDS, OPS, Op
from course_lib.ir.scalar import KINDS as ELEMENTS
from course_lib.ir.scalar import LEVELS, SCALARS
from course_lib.ir.types import DTYPES, TensorType
from course_lib.lower.lower import lower
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.prepare.decompose import decompose
from reference.examples import example
from reference.importers import importers
from reference.meaning import source_of
from reference.prose import escaped, fenced, markdown

NO_VALUE = {
    "input": "It has no operands and no value of its own: the caller gives it.",
    "constant": "It has no operands; its value is an attribute.",
}


def names() -> dict[str, str]:
    """What links to a page here: `matmul` leads to the page ops/matmul."""
    return {name: f"/ops/{name}" for name in OPS}


def pages() -> dict[str, str]:
    """All pages, by their names."""
    from_where = importers()
    return {"ops": _index()} | {f"ops/{n}": _page(row, from_where[n]) for n, row in OPS.items()}


def _index() -> str:
    parts = [
        "# The op table\n\nEverything the compiler knows about an op is one row of this table "
        "(`course_lib/ir/ops`). Each op has a page with an example and its loops."
    ]
    for kind, meaning in KINDS.items():
        rows = sorted((row for row in OPS.values() if row.kind == kind), key=lambda row: row.name)
        lines = [f"| [`{r.name}`](ops/{r.name}.md) | {_line(r)} |" for r in rows]
        head = f"## {kind}\n\n{meaning[0].upper()}{meaning[1:]}.\n\n| op | what it computes |\n"
        parts.append(f"{head}|---|---|\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _line(row: Op) -> str:
    return escaped(" ".join(row.doc.split("\n\n")[0].split()))


def _page(row: Op, from_where: dict[str, tuple[list[str], list[str]]]) -> str:
    line = listing(Namespace(op=row.name)).text.splitlines()[1]
    signature = line.removesuffix(row.doc.splitlines()[0]).strip()
    parts = [
        f"---\norphan: true\n---\n\n```{{index}} ! {row.name}\n```\n\n# {row.name}",
        f"[All ops](../ops.md) · {row.kind}: {escaped(KINDS[row.kind])}",
        fenced(signature),
        markdown(row.doc),
        _attributes(row),
        _elements(row),
        _meaning(row),
        _words(row),
        _imports(from_where),
        _example(row),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _attributes(row: Op) -> str:
    if not row.attrs:
        return ""
    lines = []
    for name, attr in row.attrs.items():
        what = f"one of {', '.join(attr.among)}" if attr.among else ATTR_KINDS[attr.kind][0]
        what += f", at least {attr.least}" if attr.least is not None else ""
        default = "has to be given" if attr.default is REQUIRED else f"`{attr.default}`"
        lines.append(f"| `{name}` | {escaped(what)} | {default} |")
    return "## Attributes\n\n| name | what it may be | default |\n|---|---|---|\n" + "\n".join(
        lines
    )


def _elements(row: Op) -> str:
    """The element types of the first operand, and of those that have its type: each is tried."""
    shown = example(row.name)
    if shown is None or not shown[0].inputs or row.name in ("fused", "scan"):
        return ""
    node, _ = shown
    first = node.inputs[0].type.dtype
    good = []
    for name, dtype in DTYPES.items():
        types = [
            TensorType(dtype, i.type.shape) if i.type.dtype == first else i.type
            for i in node.inputs
        ]
        try:
            row.infer(types, node.attrs)
        except ValueError:
            continue
        good.append(f"`{name}`")
    return f"Element types of its first operand: {', '.join(good)}."


def _meaning(row: Op) -> str:
    """What the row says that it means: a function of numpy, or simpler ops."""
    function = SCALARS[row.name].numpy if row.name in SCALARS else row.evaluate
    title = "## Its meaning"
    if row.kind != "composite":
        said = "The interpreter of graphs computes it with numpy; this defines the op."
        if row.decompose is not None and "pads" in row.attrs:
            said += " `decompose` makes padding, where there is any, an op of its own before it."
        return f"{title}\n\n{said}\n\n{fenced(source_of(function), 'python')}"
    shown = example(row.name)
    assert shown is not None
    text = print_graph(_spelled_out(shown[0]))
    return f"{title}\n\nIt is defined by other ops; `decompose` spells it out.\n\n{fenced(text)}"


def _spelled_out(node: Node) -> Graph:
    return run_passes(_alone(node), [decompose])


def _alone(node: Node) -> Graph:
    """A graph of this one node, whose operands have the names of the example."""
    if not node.inputs:
        return alone(node)
    return Graph.of(list(dict.fromkeys(node.inputs)), [node], node.op)


def _words(row: Op) -> str:
    """What the function is called at the levels below, for each kind of element."""
    if row.name not in SCALARS:
        return ""
    scalar = SCALARS[row.name]
    lines = []
    for level, title in LEVELS.items():
        words = getattr(scalar, level).split()
        if level == "cpp":  # the operator or function for floats alone
            words = words[:1]
        cells = [*(f"`{w}`" if w != "." else "" for w in words), *[""] * (4 - len(words))]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    note = (
        "A word is an instruction; `@` is an intrinsic function, a dot a predicate or a function "
        "of our own that writes several. An empty cell means that this level has none."
    )
    head = f"| level | {' | '.join(ELEMENTS)} |\n|---|---|---|---|---|\n"
    return f"## What it is called below\n\n{head}" + "\n".join(lines) + f"\n\n{note}"


def _imports(found: dict[str, tuple[list[str], list[str]]]) -> str:
    parts = []
    for source, (same, among) in found.items():
        if same:
            parts.append(f"**{source}**, one for one: {_listed(same)}.")
        if among:
            many = f"{len(among)} rules use it" if len(among) > 1 else "one rule uses it"
            text = f"{source}: {many} among other ops"
            body = f"{_listed(among)}."
            parts.append(f"<details><summary>{text}</summary>\n\n{body}\n\n</details>")
    return "## What comes in as it\n\n" + "\n\n".join(parts) if parts else ""


def _listed(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _example(row: Op) -> str:
    shown = example(row.name)
    if shown is None:
        return NO_VALUE[row.name]
    node, values = shown
    graph = _alone(node)
    with np.errstate(all="ignore"):
        (result,) = run(graph, values)
    pairs = [*zip((i.name for i in node.inputs), values, strict=True), ("result", result)]
    text = "\n".join(f"{name} = {_array(value, len(name) + 3)}" for name, value in pairs)
    parts = [f"## An example\n\n{fenced(print_graph(graph))}", fenced(text), _loops(row, node)]
    return "\n\n".join(parts)


def _array(value: np.ndarray, indent: int) -> str:
    shown = np.array2string(
        value, precision=4, suppress_small=True, separator=", ", max_line_width=80
    )
    return shown.replace("\n", "\n" + " " * indent)


def _loops(row: Op, node: Node) -> str:
    if row.loops is None and row.decompose is None and row.name not in ("fused", "scan", "reshape"):
        return "## Its loops\n\nIt has none: every target calls its meaning in numpy."
    graph = _alone(node) if row.decompose is None else _spelled_out(node)
    kernels = [step.kernel.text for step in lower(graph).steps if step.kernel]
    if not kernels:
        return "## Its loops\n\nIt has none: nothing moves, the same bytes get another shape."
    title = "## Its loops\n\nWhat lowering makes of the example, in textbook order."
    if row.decompose is not None:
        title += " Without fusion, each of the simpler ops is a kernel."
    return "\n\n".join([title, *(fenced(k) for k in kernels)])
