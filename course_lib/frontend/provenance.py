"""Where each node came from, and what could not be imported: what both importers share.

    stamp(relu(x), [x], ("layer1.0.relu",))   ->  %0 = relu(%x) loc("layer1.0.relu")

The rules of the importers build nodes without saying where they come from; `stamp` writes it on
everything that a rule has made. Next: `frontend/torch/export.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from course_lib.ir.graph.node import Node
from course_lib.ir.graph.order import topological_order


class UnsupportedOps(ValueError):
    """A model uses ops that no rule translates. `ops` lists (op, where) for each such node."""

    def __init__(self, model: str, ops: Sequence[tuple[str, str]]) -> None:
        self.ops = tuple(ops)
        counts = Counter(op for op, _ in ops)
        lines = [f"{model} uses {len(counts)} op(s) that this compiler does not support:"]
        for op, count in counts.most_common():
            places = [where or "the top level" for name, where in ops if name == op]
            shown = ", ".join(dict.fromkeys(places[:5])) + (", ..." if len(places) > 5 else "")
            lines.append(f"  {op} ({count} time{'s' if count > 1 else ''}): {shown}")
        super().__init__("\n".join(lines))

    def _render_traceback_(self) -> list[str]:
        """Notebooks show the words alone: they name the ops and where the model has them."""
        return [str(self)]


def stamp(
    results: Sequence[Node | None],
    operands: Iterable[Node],
    origin: tuple[str, ...],
    names: Sequence[str] = (),
) -> list[Node | None]:
    """The same results, with `origin` on every node between them and the operands.

    A result that is an operand (a dropout that does nothing) stays as it is. `names` name the
    results; a None stands for a result that has no rule.
    """
    known = set(operands)
    between = topological_order([r for r in results if r is not None], set(known))
    named = dict(zip(results, names, strict=False))
    new: dict[Node, Node] = {node: node for node in known}
    for node in between:
        inputs = tuple(new[i] for i in node.inputs)
        if node.op == "input" or (node.origin and inputs == node.inputs):
            new[node] = node  # not made by this rule
        else:
            new[node] = replace(node, inputs=inputs, origin=origin, name=named.get(node, node.name))
    return [None if r is None else new[r] for r in results]
