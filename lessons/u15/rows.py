"""Programs of rows that may change arrays in place: shown, run with numpy, and written as torch.

    ROWS = [("v", "view", "x", 0, 2), ("v", "mul_", "y"), ("z", "add", "x", "x")]
    print(shown(ROWS))           v = x[0:2]      (a view)
                                 v *= y
                                 z = x + x
    ran(ROWS, {"x": ..., "y": ...})              every name's numbers at the end
    by_aot(ROWS, x=4, y=2)                       the same program after AOTAutograd

Next room: division.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.draw.plots.table import table
from lessons.dynamo import quiet

Row = tuple[Any, ...]
SIGN = {"add": "+", "mul": "*"}


def shown(rows: Sequence[Row]) -> str:
    """The program as a Python programmer would write it."""
    return "\n".join(_line(row) for row in rows)


def _line(row: Row) -> str:
    name, op, *rest = row
    if op == "view":
        return f"{name} = {rest[0]}[{rest[1]}:{rest[2]}]  # a view"
    if op == "slice":
        return f"{name} = copy({rest[0]}[{rest[1]}:{rest[2]}])"
    if op == "put":
        return f"{name} = {rest[0]} with {rest[1]} at [{rest[2]}:{rest[3]}]"
    if op.endswith("_"):
        return f"{name} {SIGN[op[:-1]]}= {rest[0]}"
    return f"{name} = {rest[0]} {SIGN[op]} {rest[1]}"


def ran(rows: Sequence[Row], inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The numbers of every name at the end. Inputs are copied first."""
    known = {name: value.copy() for name, value in inputs.items()}
    for name, op, *rest in rows:
        if op in ("view", "slice"):
            x, low, high = rest
            known[name] = known[x][low:high] if op == "view" else known[x][low:high].copy()
        elif op == "put":
            x, v, low, high = rest
            known[name] = known[x].copy()
            known[name][low:high] = known[v]
        elif op.endswith("_"):
            known[name][...] = computed(op[:-1], known[name], known[rest[0]])
        else:
            known[name] = computed(op, known[rest[0]], known[rest[1]])
    return known


def computed(op: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b if op == "add" else a * b


def in_torch(rows: Sequence[Row], inputs: Sequence[str]) -> Callable[..., Any]:
    """A function of torch that does what the rows say, and returns the last one's array."""
    lines = [f"def program({', '.join(inputs)}):"]
    lines += [f"    {_line(row)}" for row in rows]
    names: dict[str, Any] = {}
    exec("\n".join([*lines, f"    return {rows[-1][0]}.clone()"]), names)
    return names["program"]


def by_aot(rows: Sequence[Row], **sizes: int) -> list[str]:
    """The ATen operations that AOTAutograd makes of the program, in order, without the copy that
    `in_torch` returns."""
    import torch
    from torch._dynamo.backends.common import aot_autograd

    seen: list[str] = []

    def compiler(graph: Any, inputs: Any) -> Any:
        targets = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
        seen.extend(target for target in targets if "clone" not in target)
        return graph.forward

    called = torch.compile(in_torch(rows, [*sizes]), backend=aot_autograd(fw_compiler=compiler))
    with quiet(), torch.no_grad():
        called(*(torch.ones(n) for n in sizes.values()))
    return seen


SAMPLES: dict[str, tuple[list[Row], dict[str, int]]] = {
    "no view": ([("x", "add_", "y"), ("z", "mul", "x", "x")], {"x": 4, "y": 4}),
    "a view": ([("v", "view", "x", 1, 3), ("v", "add_", "y"), ("z", "mul", "x", "x")],
               {"x": 4, "y": 2}),
    "a view made before": ([("v", "view", "x", 1, 3), ("x", "mul_", "x"), ("z", "add", "v", "v")],
                           {"x": 4}),
    "a view of a view": ([("v", "view", "x", 1, 4), ("w", "view", "v", 1, 3), ("w", "mul_", "y"),
                          ("z", "add", "v", "v")], {"x": 5, "y": 2}),
}  # fmt: skip


def functional_table(functional: Callable[..., Any]) -> Any:
    """Programs as they stand, without changes in place by an answer, and by AOTAutograd."""
    lines = []
    for name, (program, sizes) in SAMPLES.items():
        made, names = functional(program)
        mine = [op for _, op, *_ in needed(made, names, program[-1][0], sizes)]
        theirs = [op.split(".")[1] for op in by_aot(program, **sizes)]
        given = "; ".join(_line(row).split("  #")[0] for row in program)
        lines.append([name, given, ", ".join(mine), ", ".join(theirs)])
    return table(lines, ["program", "its rows", "yours", "AOTAutograd's"])


def needed(made: list[Row], names: dict[str, str], last: str, inputs: dict[str, int]) -> list[Row]:
    """The rows that the last name of a program needs, and what the inputs hold at the end."""
    wanted = {names[last], *(names.get(name, name) for name in inputs)}
    kept = []
    for row in reversed(made):
        if row[0] in wanted:
            kept.append(row)
            wanted |= {x for x in row[2:] if isinstance(x, str)}
    return kept[::-1]
