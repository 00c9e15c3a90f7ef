"""Annotate: rows of the chip's table, and what one more row does to a model.

    rows()                       two patterns, as in `course_lib/accelerator/compile/support.py`
    cover_report(graph, rows)    what a chip with these rows takes of a graph, and why not the rest
    block()                      the transformer block in whole numbers

Next room: regions.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.layer import refused
from course_lib.accelerator.compile.partition import CHIP, Partition, cover, partition
from course_lib.accelerator.compile.support import PATTERNS, Match, Pattern
from course_lib.compiler import read
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.models import example_inputs
from course_lib.models.traced import traced
from course_lib.passes.quantize.to_int8 import whole

NPU = PRESETS["npu"]
NAMES = ("lookup", "early_relu")


def as_patterns(expressions: Sequence[Any], names: Sequence[str] = NAMES) -> tuple[Pattern, ...]:
    """Expressions as rows without further limits."""
    named = zip(names, expressions, strict=True)
    return tuple(Pattern(name, expression, "", lambda match: "") for name, expression in named)


def cover_report(graph: Graph, expressions: Sequence[Any] = ()) -> str:
    """What a chip takes from a graph, match by match, and why it refuses the rest; the
    default is our chip's table."""
    names = [f"row {k}" for k in range(1, len(expressions) + 1)]
    table_ = as_patterns(expressions, names) if expressions else PATTERNS
    matches, refusals = cover(graph, patterns=table_)
    lines = [f"{m.pattern.name:<12} takes {', '.join(n.op for n in m.nodes)}" for m in matches]
    return "\n".join([*lines, *(f"{'refused':<12} {refusal}" for refusal in refusals)])


@cache
def block() -> Graph:
    """The transformer block of the course in 8-bit integers: 46 operations."""
    inputs = [np.asarray(x) for x in example_inputs("block")]
    return whole(read(traced("block"), inputs), [inputs])


def divided(expressions: Sequence[Any] = ()) -> Partition:
    """The block, partitioned for our chip with these rows added to its table."""

    def refuse(match: Match, chip: Any) -> str:
        return "" if match.pattern.name in NAMES else refused(match, chip)

    patterns = (*PATTERNS, *as_patterns(expressions, NAMES[: len(expressions)]))
    return partition(block(), partial(refuse, chip=NPU), patterns)


def border(parts: Partition) -> int:
    """Bytes between the processor and the chip, both ways, without weights."""
    ours = [part for part in parts.parts if part.device == CHIP]
    return sum(node.type.nbytes for part in ours for node in (*part.reads, *part.writes))


def rows_table(expressions: Sequence[Any]) -> Picture:
    """The block with the table of today, and with the rows that are given."""
    rows = []
    for name, split in (("today's table", divided()), ("with your rows", divided(expressions))):
        parts = sum(part.device == CHIP for part in split.parts)
        ops = sum(len(part.graph.ops) for part in split.parts if part.device == CHIP)
        rows.append([name, parts, ops, 100 * split.chip_share, border(split)])
    heads = ["transformer block", "parts on the chip", "ops on the chip",
             "multiply-accumulates there (%)", "bytes between processor and chip"]  # fmt: skip
    return table(rows, heads, exact=heads[1:3] + heads[4:])
