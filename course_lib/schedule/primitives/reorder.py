"""reorder: the loops of a perfect nest in any other order.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> product = parse_kernel('''
... kernel @product(x: f32[4,5], w: f32[5,6], out: f32[4,6]) {
...   for i in 0..4 { for j in 0..6 { for k in 0..5 { out[i, j] += x[i, k] * w[k, j] } } }
... }''')
>>> reorder(product, ("k", "i", "j"))
kernel @product(x: f32[4,5], w: f32[5,6], out: f32[4,6]) {
  for k in 0..5 {
    for i in 0..4 {
      for j in 0..6 {
        out[i, j] += x[i, k] * w[k, j]
      }
    }
  }
}
<BLANKLINE>

It is illegal if a dependence would run backwards: what comes later now would come first.

>>> reorder(parse_kernel('''
... kernel @skewed(out: f32[9,9]) {
...   for i in 0..8 { for j in 0..8 { out[i + 1, j] = out[i, j + 1] } }
... }'''), ("j", "i"))
Traceback (most recent call last):
ValueError: reorder j, i: a flow dependence through out would run backwards: it leads from an \
iteration to (i +1, j -1)

Next room: `interchange.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from course_lib.ir.loops.dependence import prevents_order
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.walk import loops
from course_lib.schedule.primitives.at import at_loop, find_loop, perfect_nest


def reorder(kernel: Kernel, order: Sequence[str]) -> Kernel:
    """The loops of `order`, which stand one in another in whatever order, in this one.

    Each must be all that the body of the one around it has. Kinds go along. Legal if no dependence
    would run backwards and no loop comes before one that its bounds depend on.
    """
    return reordered(kernel, order, f"reorder {', '.join(order)}")


def reordered(kernel: Kernel, order: Sequence[str], what: str) -> Kernel:
    """`reorder`, for another primitive: `what` is how the refusals begin."""
    if not order or len(set(order)) < len(order):
        raise ValueError(f"{what}: name each loop once")
    every = loops(kernel.body)
    outermost = min(order, key=lambda var: every.index(find_loop(kernel, var)))

    def change(loop: Loop) -> tuple[Stmt, ...]:
        nest = perfect_nest(loop)[: len(order)]
        for outer, inner in pairwise(nest):
            if inner.var not in order:
                raise ValueError(f"{what}: {inner.var} stands between them, in {outer.var}")
        if len(nest) < len(order):
            left = next(var for var in order if all(var != loop.var for loop in nest))
            raise ValueError(
                f"{what}: {left} must be all that the body of {nest[-1].var} has{_beside(nest[-1])}"
            )
        return (_nested(nest, order, what),)

    return at_loop(kernel, outermost, change)


def _beside(loop: Loop) -> str:
    """What stands in the way, if it is what a split leaves over: `nt`, beside `no`."""
    variables = [stmt.var for stmt in loop.body if isinstance(stmt, Loop)]
    rests = [var for var in variables if var.endswith("t") and f"{var[:-1]}o" in variables]
    return "".join(
        f", and {var} stands beside it: split({var[:-1]}, ...) left a rest, as its factor does not "
        "divide the extent"
        for var in rests[:1]
    )


def _nested(nest: Sequence[Loop], order: Sequence[str], what: str) -> Loop:
    """The loops of a nest in another order, if that is legal."""
    named = {loop.var: loop for loop in nest}
    for position, var in enumerate(order):
        for later in order[position + 1 :]:
            if later in (*named[var].start.vars, *named[var].stop.vars):
                raise ValueError(f"{what}: the bounds of {var} depend on {later}")
    backwards = prevents_order(nest, order)
    if backwards is not None:
        raise ValueError(f"{what}: {backwards}")
    body = nest[-1].body
    for var in reversed(order[1:]):
        body = (replace(named[var], body=body),)
    return replace(named[order[0]], body=body)
