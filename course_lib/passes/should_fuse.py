"""The fusion heuristic: of what may be fused, what pays?

    should_fuse(conv, add)       -> True      // the bias is added while the sum is in a register
    should_fuse(exp, expand)     -> False     // 10 values of exp would be computed 10,000 times

Next room: `fuse.py`, which asks this question about every edge that it could fuse.
"""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.ir.graph import Node
from course_lib.passes.groups import MOVES


def same_shape(producer: Node, consumer: Node) -> bool:
    """The compiler before this exercise: only what has the consumer's own shape."""
    return producer.type.shape == consumer.type.shape


@exercise(
    "passes.should_fuse",
    unit=3,
    points=2,
    baseline=same_shape,
    hints=(
        "How often is one element of the producer computed, if each element of the consumer "
        "computes the elements that it reads?",
        "An elementwise consumer of the same shape reads each element once. One of a larger shape "
        "reads it again for every row. Moving an element costs nothing, however often.",
        "True if producer.op is in MOVES; False if consumer.op is 'expand'; else the shapes are "
        "equal, or the consumer is in MOVES.",
    ),
)
def should_fuse(producer: Node, consumer: Node) -> bool:
    """Should `producer` be computed inside the kernel of its user `consumer`?

    `fuse` asks only where the answer may be yes: both can be in one kernel, and every user of the
    producer is already there. So fusing always removes one kernel, one write of the producer and
    at least one read of it. What it can cost is work: an element that the consumer reads several
    times is computed several times.

    This heuristic never repeats arithmetic. True if
    - the producer only moves elements (`groups.MOVES`): to recompute it is a change of index; or
    - the consumer is `transpose` or `slice`, which read each element at most once; or
    - both have the same shape.

    Real compilers weigh instead of forbid: XLA and Inductor recompute a cheap producer to save a
    large write. Change this function and count kernels, bytes and FLOPs.

    >>> from course_lib.ir.build import exp, inp
    >>> v, m = inp("v", "f32[10]"), inp("m", "f32[1000,10]")
    >>> should_fuse(exp(v), exp(v) + m), should_fuse(exp(m), exp(m) + v)
    (False, True)
    """
    if producer.op in MOVES:
        return True
    if consumer.op in MOVES:
        return consumer.op != "expand"
    return producer.type.shape == consumer.type.shape
