"""Partition: which part of a model runs on the chip, and which on the processor.

    quantize(%x) -> conv, max_pool, conv, add ... -> dequantize
    ==>   part 0 (cpu): quantize     part 1 (chip): conv ... add     part 2 (cpu): dequantize

Each match of a pattern (`support.py`), and each op without one, gets the number of a part: the
smallest that is not below those of its operands, odd for the chip, even for the processor. A value
thus never flows to a part with a smaller number, and that is all there is to say about cycles: the
parts can run one after another. Next room: `product.py`.

Reading path of the chip, 3 of 12; next: `accelerator/chip.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.accelerator.compile.support import PATTERNS, Match, Pattern, macs, match
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.graph_interp import bind, run
from course_lib.ir.graph.node import Node, inp
from course_lib.ir.types import i8, u8

CHIP, CPU = "chip", "cpu"
Refuse = Callable[[Match], str]
Runner = Callable[[Graph, Sequence[np.ndarray]], Sequence[np.ndarray]]


@dataclass(frozen=True, eq=False)
class Part:
    """What one device computes without the other.

    graph    its program; its inputs are what it reads from other parts or from the caller
    reads    those values, and `writes` its results, as nodes of the whole graph
    """

    device: str
    graph: Graph
    reads: tuple[Node, ...]
    writes: tuple[Node, ...]


@dataclass(frozen=True)
class Refusal:
    """An op that stays on the processor, and why."""

    node: Node
    reason: str

    def __str__(self) -> str:
        return f"{self.node.op} : {self.node.type}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Partition:
    """The parts in the order in which they run, and why the rest is not on the chip."""

    whole: Graph
    parts: tuple[Part, ...]
    refusals: tuple[Refusal, ...]

    @property
    def chip_share(self) -> float:
        """The chip's part of all multiply-accumulates (convolutions and matrix products); 0 if
        there are none."""
        chip = sum(sum(map(macs, p.graph.ops)) for p in self.parts if p.device == CHIP)
        return chip / max(1, sum(map(macs, self.whole.ops)))

    def run(
        self,
        inputs: Sequence[Any] | Mapping[str, Any],
        chip: Runner = run,
        cpu: Runner = run,
    ) -> list[np.ndarray]:
        """The parts one after another; `chip` and `cpu` run a graph, by default the interpreter."""
        values = dict(zip(self.whole.inputs, bind(self.whole, inputs), strict=True))
        values |= {node: node.value for node in self.whole.constants}
        for part in self.parts:
            runner = chip if part.device == CHIP else cpu
            results = runner(part.graph, [values[node] for node in part.reads])
            values |= dict(zip(part.writes, results, strict=True))
        return [values[node] for node in self.whole.outputs]

    def __str__(self) -> str:
        lines = [
            f"part {k} ({p.device}): {len(p.graph.ops)} ops, {sum(map(macs, p.graph.ops)):,} "
            f"multiply-accumulates, reads {_bytes(p.reads):,} bytes, writes {_bytes(p.writes):,}"
            for k, p in enumerate(self.parts)
        ]
        share = f"{self.chip_share:.1%} of the multiply-accumulates are on the chip"
        return "\n".join([*lines, share, *self.notes, *(f"on the cpu: {r}" for r in self.refusals)])

    @property
    def notes(self) -> list[str]:
        """What another tool did to the model that the chip cannot follow, and how it could."""
        rounding = [n for n in self.whole.ops if n.op == "quantize" or _rounds(n)]
        why = {
            "of u8: 0 to 255 do not fit the chip's i8": [n for n in rounding if n.type.dtype == u8],
            "of i8 with a zero point: the chip has none": [
                n for n in rounding if n.type.dtype == i8 and n.op == "cast"
            ],
        }
        return [
            f"values {what} ({len(nodes)}, the first {(*nodes[0].origin, nodes[0].op)[0]}). "
            "They stay on the processor; symmetric i8 does not (onnxruntime's quantizer: "
            "activation_type=QInt8, ActivationSymmetric)"
            for what, nodes in why.items()
            if nodes
        ]


def _rounds(node: Node) -> bool:
    return node.op == "cast" and node.inputs[0].type.dtype.is_float


def partition(
    graph: Graph,
    refuse: Refuse = lambda match: "",
    patterns: Sequence[Pattern] = PATTERNS,
) -> Partition:
    """Give each op of an integer graph (`passes/quantize/to_int8.py`) to the chip or the processor.

    Patterns are looked for from the outputs upwards, so that a convolution is found with the
    rescaling that ends it. Nothing is computed twice. An op that nobody needs may stay where it is.
    `refuse` may say of a match why it stays on the processor all the same (`layer.refused`);
    `patterns` is the table of another chip, which may not exist yet.
    """
    matches, refusals = cover(graph, refuse, patterns)
    unit = {m.root: m for m in matches}
    inside = {node for m in matches for node in m.nodes[:-1]}
    number: dict[Node, int] = {}
    for node in graph.ops:
        if node not in inside:
            nodes = unit[node].nodes if node in unit else (node,)
            number[node] = _number(nodes, number, on_chip=node in unit)
    for m in matches:
        number.update(dict.fromkeys(m.nodes, number[m.root]))
    names = value_names(graph)
    parts = [_part(graph, k, number, names) for k in sorted(set(number.values()))]
    return Partition(graph, tuple(parts), tuple(refusals))


def cover(
    graph: Graph,
    refuse: Refuse = lambda match: "",
    patterns: Sequence[Pattern] = PATTERNS,
) -> tuple[list[Match], list[Refusal]]:
    """The matches of the chip's patterns, none of which overlap, in the order of the graph, and the
    ops that are in none."""
    users, outputs = graph.users(), set(graph.outputs)
    matches: list[Match] = []
    refusals: list[Refusal] = []
    inside: set[Node] = set()
    for node in reversed(graph.ops):
        if node in inside:
            continue
        result = match(node, lambda n: len(users[n]) == 1 and n not in outputs, patterns)
        if isinstance(result, Match):
            result = refuse(result) or result
        if isinstance(result, Match):
            matches.append(result)
            inside.update(result.nodes)
        else:
            refusals.append(Refusal(node, result))
    return matches[::-1], refusals[::-1]


def _number(nodes: Iterable[Node], number: Mapping[Node, int], on_chip: bool) -> int:
    """The part of these nodes: after all that they need; odd numbers are the chip's."""
    after = max((number[i] for node in nodes for i in node.inputs if i in number), default=0)
    return after if after % 2 == on_chip else after + 1


def _part(graph: Graph, k: int, number: Mapping[Node, int], names: Mapping[Node, str]) -> Part:
    """Part `k` as a graph of its own."""
    members = [node for node in graph.ops if number[node] == k]
    inside = set(members)
    operands = dict.fromkeys(i for node in members for i in node.inputs if i not in inside)
    reads = tuple(i for i in operands if i.op != "constant")
    users, outputs = graph.users(), set(graph.outputs)
    writes = tuple(
        n for n in members if n in outputs or any(user not in inside for user in users[n])
    )
    new = {node: inp(names[node], node.type) for node in reads}
    parameters = list(new.values())
    new |= {node: node for node in operands if node.op == "constant"}
    for node in members:
        new[node] = node.with_inputs([new[i] for i in node.inputs])
    device = CHIP if k % 2 else CPU
    results = [new[node] for node in writes]
    title = f"{graph.name}_{device}_{k}"
    subgraph = Graph.of(parameters, results, title, also=[new[node] for node in members])
    return Part(device, subgraph, reads, writes)


def _bytes(nodes: Sequence[Node]) -> int:
    return sum(node.type.nbytes for node in nodes)
