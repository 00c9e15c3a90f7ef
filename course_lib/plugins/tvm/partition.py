"""A Relax module divided between the chip and TVM's CPU: annotate, then merge.

    main(x):  quantize, conv, max_pool, conv, add, ..., dequantize
    ==>       main(x):  quantize, region(...), dequantize        region:  conv, max_pool, conv, ...

`FuseOpsByPattern` puts a function around everything that looks like a row of the chip's table, and
`MergeCompositeFunctions` joins neighbours to regions, each a program of the chip. Before it joins
two, it looks into a list of the regions that each of them depends on. An operation copies the lists
of its operands when it is visited, and hears nothing of regions that grow later. So two regions may
come out that wait for each other (TVM 0.27.0.post1; unit 14 has such a program). `partition`
notices, and does without joining. Next room: `codegen.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.layer import refused
from course_lib.accelerator.compile.partition import Refusal, cover
from course_lib.accelerator.compile.support import PATTERNS, Pattern
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.patterns import patterns
from course_lib.plugins.tvm.read import read


def partition(module: Any, chip: Chip, table: Sequence[Pattern] = PATTERNS) -> Any:
    """The module with a function for each region, which has the attribute Codegen.

    `table` may be that of another chip. If regions that TVM has joined wait for each other, each
    match of a row is a region of its own: more starts of the chip, and the same values.
    """
    joint = joined(module, chip, table)
    return _fused(module, chip, table, regions=True) if trouble(joint) else joint


def joined(module: Any, chip: Chip, table: Sequence[Pattern] = PATTERNS) -> Any:
    """The regions that TVM makes, whether or not they can run.

    Nothing merges equal bindings before: a `dequantize` of two sums would be in neither's pattern.
    """
    merge = package().relax.transform.MergeCompositeFunctions()
    return merge(_fused(module, chip, table, regions=False))


def _fused(module: Any, chip: Chip, table: Sequence[Pattern], regions: bool) -> Any:
    """Each match of a row as a function, and, if `regions`, each as a region, too."""
    transform = package().relax.transform
    rows = patterns(chip, table)
    return transform.FuseOpsByPattern(rows, bind_constants=True, annotate_codegen=regions)(module)


def trouble(module: Any) -> str:
    """Why a module is not well formed, in TVM's words; "" if it is. Regions that wait for each
    other are called with a value that nobody has made yet."""
    try:
        package().relax.analysis.well_formed(module)
    except ValueError as error:
        return str(error)
    return ""


def left_over(module: Any, chip: Chip) -> list[Refusal]:
    """What stays on TVM's CPU, and why, in the words of the chip's table."""
    rest = read(module["main"])
    matches, refusals = cover(rest, partial(refused, chip=chip))
    missed = [
        Refusal(m.root, f"TVM has not found that this is a {m.pattern.name}") for m in matches
    ]
    return [*refusals, *missed]
