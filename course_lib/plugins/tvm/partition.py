"""A Relax module divided between the chip and TVM's CPU: annotate, then merge.

    main(x):  quantize, conv, max_pool, conv, add, ..., dequantize
    ==>       main(x):  quantize, region(...), dequantize        region:  conv, max_pool, conv, ...

`FuseOpsByPattern` puts a function around everything that looks like a row of the chip's table, and
`MergeCompositeFunctions` joins neighbours to regions, each a program of the chip. It joins two only
if no path leads from one to the other through the CPU, for that would be a cycle: each of the two
devices would wait for the other. Sets of nodes without such a path are called convex.
Next room: `codegen.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.layer import refused
from course_lib.accelerator.compile.partition import Refusal, cover
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.patterns import patterns
from course_lib.plugins.tvm.read import read


def partition(module: Any, chip: Chip) -> Any:
    """The module with a function for each region, which has the attribute Codegen.

    Nothing merges equal bindings before: a `dequantize` of two sums would be in neither's pattern.
    """
    tvm = package()
    transform = tvm.relax.transform
    steps = [
        transform.FuseOpsByPattern(patterns(chip), bind_constants=True, annotate_codegen=False),
        transform.MergeCompositeFunctions(),
    ]
    return tvm.transform.Sequential(steps)(module)


def left_over(module: Any, chip: Chip) -> list[Refusal]:
    """What stays on TVM's CPU, and why, in the words of the chip's table."""
    rest = read(module["main"])
    matches, refusals = cover(rest, partial(refused, chip=chip))
    missed = [
        Refusal(m.root, f"TVM has not found that this is a {m.pattern.name}") for m in matches
    ]
    return [*refusals, *missed]
