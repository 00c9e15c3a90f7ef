"""The fusion heuristic: of what may be fused, what pays?

    should_fuse(conv, add)       -> True      // the bias is added while the sum is in a register
    should_fuse(exp, expand)     -> False     // 10 values of exp would be computed 10,000 times

Next room: `fuse.py`, which asks this question about every edge that it could fuse.
"""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.ir.graph import Node
from course_lib.passes.groups import MOVES, REDUCTIONS, finishes_contraction, per_row


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
        "Write the table of the specification as a chain of ifs: `groups.py` has the sets MOVES "
        "and REDUCTIONS and the tests finishes_contraction(producer) and per_row(shape, shape).",
    ),
)
def should_fuse(producer: Node, consumer: Node) -> bool:
    """Should `producer` be computed inside the kernel of its user `consumer`?

    `fuse` asks only where the answer may be yes: both can be in one kernel, and every user of the
    producer is already there. So fusing always removes one kernel, one write of the producer and
    at least one read of it. What it can cost is work: an element that the consumer reads several
    times is computed several times.

    This heuristic never repeats arithmetic for each element. The first line that applies decides:

        the producer only moves elements (`groups.MOVES`)  yes: recomputing is a change of index
        the consumer is `expand`                           no: it reads each element many times
        the consumer is another movement                   yes: it reads each element at most once
        the consumer is a reduction                        yes, unless the producer could finish a
                                                           contraction instead: there it is free
        both have the same shape                           yes
        the producer is one number for each row            yes: it is computed once for a row
        otherwise                                          no

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
    if consumer.op in REDUCTIONS:
        return not finishes_contraction(producer)
    same = producer.type.shape == consumer.type.shape
    return same or per_row(producer.type.shape, consumer.type.shape)
