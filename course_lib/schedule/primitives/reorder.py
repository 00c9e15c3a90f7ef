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

Bounds that move with a loop are turned round, as those of a sum are: i <= j is j >= i.

>>> reorder(parse_kernel('''
... kernel @triangle(out: f32[9,9]) { for i in 0..8 { for j in 0..i + 1 { out[i, j] = 1.0 } } }
... '''), ("j", "i"))
kernel @triangle(out: f32[9,9]) {
  for j in 0..8 {
    for i in max(0, j)..8 {
      out[i, j] = 1.0
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
iteration to (i +1, j -1): iteration (i=1, j=0) reads out[1, 1], which (i=0, j=1) has to write first

Next room: `interchange.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from course_lib.arguments import takes
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.polyhedra.domains import V, within
from course_lib.ir.loops.walk import bounded, loops
from course_lib.schedule.legality import may_reorder
from course_lib.schedule.primitives.at import at_loop, find_loop, perfect_nest


@takes
def reorder(kernel: Kernel, order: Sequence[str]) -> Kernel:
    """The loops of `order`, which stand one in another in whatever order, in this one.

    Each must be all that the body of the one around it has. Kinds go along. Legal if no dependence
    would run backwards.
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
        return (_nested(kernel, nest, order, what),)

    return at_loop(kernel, outermost, change)


def _beside(loop: Loop) -> str:
    """What stands in the way, if it is what a split leaves over: `nt`, beside `no`."""
    inside = {each.var: each.extent or 0 for each in loops(loop.body)}
    beside = [stmt.var for stmt in loop.body if isinstance(stmt, Loop)]
    for rest, axis in ((var, var[:-1]) for var in beside if var.endswith("t")):
        outer, factor = inside.get(f"{axis}o", 0), inside.get(f"{axis}i", 0)
        if outer and factor:
            extent = outer * factor + inside[rest]
            return (f", and {rest} stands beside it: split({axis}, {factor}) left a rest, as "
                    f"{factor} does not divide {extent}")  # fmt: skip
    return ""


def _nested(kernel: Kernel, nest: Sequence[Loop], order: Sequence[str], what: str) -> Loop:
    """The loops of a nest in another order, if that is legal."""
    if (lost := may_reorder(kernel, order, exact=True).witness) is not None:
        if lost.point is None:
            raise ValueError(f"{what}: {lost.witness}, so it is refused")
        steps = ", ".join(f"{var} {step:+}" for var, step in lost.steps.items())
        raise ValueError(
            f"{what}: {lost} would run backwards: it leads from an iteration to ({steps}): "
            f"{lost.witness}"
        )
    *around, innermost = _bounded(nest, order, what)
    result = replace(innermost, body=nest[-1].body)
    for loop in reversed(around):
        result = replace(loop, body=(result,))
    return result


def _bounded(nest: Sequence[Loop], order: Sequence[str], what: str) -> list[Loop]:
    """The loops in their new order, each with bounds by loops that then stand around it.

    A loop that stays innermost keeps its own. From the innermost of the others on: what bounds a
    loop is what all conditions say of its variable. For the loops around it remains that each lower
    bound is at most each upper one (Fourier and Motzkin).
    """
    if nest and nest[-1].var == order[-1]:
        return [*_bounded(nest[:-1], order[:-1], what), nest[-1]]
    named = {loop.var: loop for loop in nest}
    if not any(named[var].bounded_by & set(order[k:]) for k, var in enumerate(order)):
        return [named[var] for var in order]
    turned, conditions = [], [condition for loop in nest for condition in within(loop)]
    for var in reversed(order):
        own = [c for c in conditions if c.coefficient(var)]
        for condition in own:
            if abs(condition.coefficient(var)) > 1:
                loop = next(lo for lo in nest if var in lo.bounded_by)
                raise ValueError(
                    f"{what}: the bounds of {loop.var} depend on {var}, and by more than 1: turned "
                    f"round, those of {var} would be quotients. After split({loop.var}, ...), the "
                    f"bounds of {loop.var}o do not depend on {var}, and {loop.var}o may go outward"
                )
        starts = [V(var) - c for c in own if c.coefficient(var) > 0]
        stops = [V(var) + c + 1 for c in own if c.coefficient(var) < 0]
        turned.append(bounded(named[var], starts, stops))
        conditions = [c for c in conditions if not c.coefficient(var)]
        conditions += [stop - 1 - start for start in starts for stop in stops]
    return turned[::-1]
