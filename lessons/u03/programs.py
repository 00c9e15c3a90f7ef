"""Nine small programs on which fusion heuristics are compared.

Weights are inputs, so that the programs are small. `PROGRAMS` is given to the student. Some of them
are excerpts of the course's models; the others have what those lack, such as a producer that its
consumer reads many times. Next room: evidence.py.
"""

from __future__ import annotations

from course_lib.ir.graph.build import exp, reduce_sum, relu, reshape, sigmoid, sqrt, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.passes.prepare.decompose import decompose


def perceptron() -> Graph:
    """Two layers of the MLP."""
    x, w1, b1 = inp("x", "f32[1,784]"), inp("w1", "f32[784,512]"), inp("b1", "f32[512]")
    w2, b2 = inp("w2", "f32[512,512]"), inp("b2", "f32[512]")
    hidden = relu(x @ w1 + b1)
    return Graph.of([x, w1, b1, w2, b2], [relu(hidden @ w2 + b2)], "perceptron")


def residual() -> Graph:
    """A residual block of ResNet-18."""
    x, w1, w2 = (inp("x", "f32[1,64,56,56]"), inp("w1", "f32[64,64,3,3]"),
                 inp("w2", "f32[64,64,3,3]"))  # fmt: skip
    b1, b2 = inp("b1", "f32[1,64,1,1]"), inp("b2", "f32[1,64,1,1]")
    y = relu(_conv(x, w1) + b1)
    return Graph.of([x, w1, w2, b1, b2], [relu(_conv(y, w2) + b2 + x)], "residual")


def attention() -> Graph:
    """Four heads of the transformer block, scores to mixed values."""
    q, k, v = (inp(n, "f32[4,128,64]") for n in "qkv")
    scores = q @ transpose(k, (0, 2, 1)) * 0.125
    return decompose(Graph.of([q, k, v], [apply("softmax", scores) @ v], "attention"))


def masked(words: int = 128) -> Graph:
    """The same with a causal mask, made of ones and zeros for all heads together."""
    q, k, v = (inp(n, f"f32[4,{words},64]") for n in "qkv")
    allowed = inp("allowed", f"f32[{words},{words}]")
    scores = q @ transpose(k, (0, 2, 1)) * 0.125 + (allowed - 1.0) * 1e9
    graph = Graph.of([q, k, v, allowed], [apply("softmax", scores) @ v], "masked")
    return decompose(graph)


def positions(words: int = 128) -> Graph:
    """Positions for four sentences, then a layer norm."""
    x, table = inp("x", f"f32[4,{words},256]"), inp("table", f"f32[{words},256]")
    scale, shift = inp("scale", "f32[256]"), inp("shift", "f32[256]")
    norm = apply("layer_norm", x + table * 16.0, scale, shift, axis=-1)
    return decompose(Graph.of([x, table, scale, shift], [norm], "positions"))


def gate(rows: int = 128) -> Graph:
    """A gated layer: (x @ a) * swish(x @ b)."""
    x, a, b = inp("x", f"f32[{rows},256]"), inp("a", "f32[256,1024]"), inp("b", "f32[256,1024]")
    y = x @ b
    return Graph.of([x, a, b], [(x @ a) * (y * sigmoid(y))], "gate")


def temperature(rows: int = 512) -> Graph:
    """One learned factor for each column: exp of 1,024 numbers, used by 512 rows."""
    m, v = inp("m", f"f32[{rows},1024]"), inp("v", "f32[1024]")
    return Graph.of([m, v], [m * exp(v)], "temperature")


def readers(rows: int = 256) -> Graph:
    """Rows scaled to length 1, squashed, and shifted by each of eight readers."""
    m = inp("m", f"f32[{rows},512]")
    unit = m / sqrt(reduce_sum(m * m, (1,), keepdims=True))
    bias = inp("bias", "f32[8,1,1]")
    scores = sigmoid(reshape(unit, (1, rows, 512)) * 2.0) + bias
    return Graph.of([m, bias], [scores], "readers")


def projections() -> Graph:
    """Queries, keys and values of four heads, of one product."""
    x, w, b = inp("x", "f32[128,256]"), inp("w", "f32[256,768]"), inp("b", "f32[768]")
    heads = reshape(x @ w + b, (128, 12, 64))
    thirds = [
        apply("slice", heads, starts=(0, k, 0), stops=(128, k + 4, 64)) for k in range(0, 12, 4)
    ]
    return Graph.of([x, w, b], [transpose(t, (1, 0, 2)) for t in thirds], "projections")


def _conv(x: Node, w: Node) -> Node:
    return apply("conv", apply("pad", x, low=(0, 0, 1, 1), high=(0, 0, 1, 1)), w)


_ALL = (perceptron, residual, attention, masked, positions, gate, temperature, readers, projections)
PROGRAMS: dict[str, Graph] = {make.__name__: make() for make in _ALL}
