"""A trained model as an int8 model: the four steps in order.

    graph of floats -> batch norms folded -> ranges -> quantize-dequantize pairs -> integer ops

    to_int8(graph, samples)     %1 = conv(%0, %w) {sums = "i32"} : i32[1,64,112,112]
                                %2 = add(%1, %bias) : i32[1,64,112,112]
                                %3 = requantize(%2, %scale) {low = 0} : i8[1,64,112,112]

This is quantization after training (Jacob et al. 2018, Krishnamoorthi 2018): symmetric, weights for
each output channel, activations for each tensor, ranges from the smallest and largest value seen.
The interpreter on the result is the int8 reference of a whole model. Next room: `calibrate.py`.

Reading path of the chip, 2 of 12; next: `accelerator/compile/partition.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.types import i8
from course_lib.passes.clean.bn_fold import bn_fold
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.quantize.calibrate import Sample, calibrate
from course_lib.passes.quantize.integers import integers
from course_lib.passes.quantize.quantize import quantize


@takes
def to_int8(graph: Graph, samples: Iterable[Sample]) -> Graph:
    """The integer graph of a float graph; `samples` are inputs that show how large values get.

    It has the same inputs and outputs, which stay floats: the first ops quantize, the last ones
    dequantize. What has no integer form (softmax, layer_norm, gelu) stays in floats between them.
    A graph that was quantized before, as by another tool, keeps its own scales.
    """
    return run_passes(qdq(graph, samples), [integers, fold, cse, dce])


@takes
def whole(graph: Graph, samples: Iterable[Sample]) -> Graph:
    """`to_int8` of a graph of floats. One that holds quantize ops already, as from another tool,
    keeps its own scales; one without floats is what it is."""
    held = {node.op for node in graph.ops}
    if held & {"quantize", "dequantize", "requantize", "add_quantized"}:
        return run_passes(graph, [integers, cse, dce])
    floats = any(node.type.dtype.is_float for node in graph.ops)
    return to_int8(graph, samples) if floats else graph


@takes
def qdq(graph: Graph, samples: Iterable[Sample]) -> Graph:
    """The same with quantize-dequantize pairs around float ops: what other tools exchange. A graph
    that has pairs of i8 is left as it is; pairs of u8 or with zero points are floats to it, and are
    rounded once more."""
    if any(node.op == "quantize" and node.type.dtype == i8 for node in graph.ops):
        return graph
    ready = prepared(graph)
    return dce(quantize(ready, calibrate(ready, samples)))


def prepared(graph: Graph) -> Graph:
    """What is quantized: batch norms inside the convolutions, weights as constants."""
    return run_passes(graph, [fold, simplify, bn_fold, fold, cse, dce])
