"""The fusion heuristic: of what may be fused, what pays?

    should_fuse(conv, add)       -> True      // the bias is added while the sum is in a register
    should_fuse(exp, expand)     -> False     // 10,000 calls of exp for 10 values

Ours does not repeat arithmetic for a larger consumer. A producer that is read through two different
indices, as in p + transpose(p), is still computed twice. Of m * exp(v), with v one row of m,
Inductor (torch 2.13) and XLA (jax 0.10.2) on a processor compute exp(v) once, too. Next room:
`fuse.py`, which calls it for every edge that it could fuse.
"""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.ir.graph.node import Node
from course_lib.passes.fusion.groups import MOVES, REDUCTIONS, finishes_contraction, per_row


def same_shape(producer: Node, consumer: Node) -> bool:
    """The compiler before this exercise: only what has the consumer's own shape."""
    return producer.type.shape == consumer.type.shape


@exercise("passes.should_fuse", unit=3, points=3, kind="budget", baseline=same_shape)
def should_fuse(producer: Node, consumer: Node) -> bool:
    """Should `producer` be computed inside the kernel of its user `consumer`?

    `fuse` calls this only where a yes is legal, so any answer is correct. Answering yes for every
    user removes one kernel, one write of the producer and at least one read; it may also keep the
    producer out of another kernel. It can cost work: an element that the consumer reads several
    times is computed several times.

    For the score, `fuse` runs with this function on each program of `PROGRAMS`, and then

    - no program may execute more than 1.1 times the operations that it executes with nothing fused;
    - the fewer bytes all programs together move, the more points. The compiler's stand-in (fuse
      what has the same shape) moves 42.3 MB and earns three tenths; moving more than that earns
      nothing; 33.6 MB, which is what ours moves, earns all of them. 33.2 MB is the best we know.

    >>> from course_lib.ir.graph.build import exp
    >>> from course_lib.ir.graph.node import inp
    >>> v, m = inp("v", "f32[10]"), inp("m", "f32[1000,10]")
    >>> should_fuse(exp(v), exp(v) + m), should_fuse(exp(m), exp(m) + v)
    (False, True)
    """
    if producer.op in MOVES:
        return True  # recomputing is another index
    if consumer.op in MOVES:
        return consumer.op != "expand"  # which reads each element many times
    if consumer.op in REDUCTIONS:  # reads each element once; an epilogue, which is as good, has it
        return not finishes_contraction(producer)
    same = producer.type.shape == consumer.type.shape
    return same or per_row(producer.type.shape, consumer.type.shape)
