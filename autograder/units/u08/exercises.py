"""Unit 8, Dependence: the exercises that are no function of the library.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u08/stencils.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u08.witnesses", unit=8, points=2, kind="evidence")
def witnesses() -> dict[str, tuple | None]:
    """For each of the five nests above, find two iterations that must stay in order, if there are
    any.

    returns  for each name of a nest, "a" to "e", either (kind, first, second) or None. The kind is
             "flow", "anti" or "output". The iterations are tuples of the loop variables' values,
             outermost first, such as (0, 3), or (3,) in a single loop

    In the nest as it is written, the first iteration runs before the second. Both touch the same
    element of `out`, and the kind says what they do with it. If there are several such pairs, any
    of them is right. None means that all iterations may run in any order.
    """
    return {"a": ("flow", (0, 1), (1, 0)), "b": None, "c": None, "d": ("output", (0, 1), (2, 0)),
            "e": ("anti", (1,), (2,))}  # fmt: skip


@exercise("u08.meet", unit=8, points=3, kind="implement", further=True)
def meet(a: int, b: int, c: int, d: int, n: int) -> tuple[int, int] | None:
    """Do the accesses out[a*i + b] and out[c*j + d] ever touch the same element?

    a, b, c, d  whole numbers; a and c are not 0, and all may be negative
    n           both i and j run from 0 to n - 1; n is at least 1
    returns     (i, j) with a*i + b == c*j + d, or None if there are none. If there are several,
                any of them is right

    The loops may be long and the numbers large, so trying one iteration after another takes too
    long.
    """
    g = gcd(a, c)
    if (d - b) % g:
        return None
    step = abs(c // g)
    i = (d - b) // g * pow(a // g, -1, step) % step  # the first i from 0 on with a whole j
    j = (a * i + b - d) // c
    rise = a * step // c  # of j, for the next such i
    k = -(j // rise) if rise > 0 else -((n - 1 - j) // -rise)  # the first with j in its range
    i, j = i + max(k, 0) * step, j + max(k, 0) * rise
    return (i, j) if i < n and 0 <= j < n else None


@exercise("u08.broken", unit=8, points=3, kind="implement")
def broken(
    distances: Sequence[tuple[int, ...]], rows: Sequence[tuple[int, ...]], blocks: bool
) -> tuple[int, ...] | None:
    """The first distance that does not survive a new order of the loops; None if all survive.

    distances  how many iterations later the second of two iterations is, for each loop, outermost
               first. In the loops as they are now, it runs later
    rows       the coefficients of what the new loops count, outermost first: (2, 1) stands for
               2*t + i. Two iterations never get the same numbers. There may be more new loops than
               old ones
    blocks     False: the new loops stand one inside another. True: each of them is also cut into
               blocks, and the blocks run one after another. A distance must survive whatever the
               sizes of the blocks are: in each loop, a block may hold both iterations or only one
    returns    one of the distances, or None

    A distance survives if the second iteration still runs later, wherever the first one is.
    """
    for distance in distances:
        new = [sum(r * x for r, x in zip(row, distance, strict=True)) for row in rows]
        if min(new) < 0 if blocks else next(x for x in new if x) < 0:
            return distance
    return None


@exercise(
    "u08.time_blocks", unit=8, points=4, kind="budget", uses=("schedule.skewed",), further=True
)
def time_blocks(rows: int, columns: int, steps: int, reach: int, size: int) -> str:
    """A schedule for a plate, as text, with as few misses as possible.

    rows, columns, steps, reach
              the arguments of `plate`. The rows are a multiple of 8, the columns of 16, and the
              steps of 12; the reach is 1, 2 or 3
    size      bytes of the cache, which has 4 ways; at least 5 · reach rows fit into it
    returns   the steps, one per line, as `parse_schedule` reads them; the step skew runs your
              answer to schedule.skewed

    Every step of the language is allowed. The result must stay the same to the last bit. The score
    is the mean, over several plates and caches, of the misses divided by those of the plate as
    written.
    """
    room = 15 / 16 * size / (4 * columns)  # rows that stay in the cache
    depth = max(d for d in range(1, steps) if steps % d == 0 and reach * (d + 2) <= room)
    return f"""
        skew(t, i, {reach})
        split(t, {depth})
        split(i, {reach})
        reorder(to, io, ti, ii, j)
    """


@exercise("u08.threads", unit=8, points=2, kind="explain")
def threads() -> Rubric:
    """Neither loop of isl's band may run its iterations at the same time, and the same holds for
    the two loops over the blocks. Yet several threads can work on the blocks at once. Which blocks
    may run at the same time, and how do you see that from the distances between blocks? Why do
    some threads still have nothing to do at the beginning and at the end? How could you change the
    blocks so that more of them run at once, and at what price? Write three to six sentences.
    """
    return Rubric(
        criteria="1 point: blocks on a diagonal (the same to + io, a wavefront) may run at the "
        "same time. After skewing, every distance between blocks is (0, 1), (1, 0) or (1, 1), so "
        "it always leads to a larger to + io and never stays within a diagonal; "
        "half a point for the diagonal without the reason. "
        "0.5 points: the first and the last diagonals have few blocks (the first has one), so the "
        "wave has to fill and to drain. "
        "0.5 points: blocks of fewer passes make longer diagonals, as a diagonal has at most as "
        "many blocks as there are blocks of time. (Narrower blocks do not make them longer; they "
        "only fill and drain the wave sooner.) The price: threads pass work on and wait for each "
        "other more often, and there are more misses if a thread does not find in its own cache "
        "what another thread has left there. Other shapes also earn full points (diamonds, or "
        "overlapped blocks that compute some cells twice): they start all at once, but are more "
        "complicated or do work twice.",
        samples=(
            Sample(2, "All blocks with the same to + io can run together. A block needs its "
                   "neighbours at distance (1, 0), (0, 1) and (1, 1), and each of these raises "
                   "to + io, so no two blocks of one diagonal depend on each other. The first "
                   "diagonal is one block, and so is the last: the wave must fill and drain. If "
                   "a block does fewer passes, there are more blocks of time and the diagonals are "
                   "longer, but the threads have to hand work over to each other more often."),
            Sample(1, "The blocks on a diagonal are independent, because the dependences go right "
                   "and down. At the beginning only one block is ready, and other threads wait."),
            Sample(0, "One can use a parallel loop over io, since the blocks do not share cells, "
                   "and the threads only wait for memory."),
        ),
    )  # fmt: skip


@exercise("u08.overlapped", unit=8, points=3, kind="number")
def overlapped(height: int, width: int, tile: tuple[int, int], window: int, stride: int) -> int:
    """How many values of the first result do the tiles of the second one compute in all?

    height, width  rows and columns of the second convolution's result
    tile           rows and columns of a tile of it. The last tiles are smaller if these numbers do
                   not divide the height or the width
    window         the second convolution reads window × window values of the first result for each
                   of its own, without padding
    stride         how many rows or columns the window moves from one value of the second result to
                   the next: at least 1, at most `window`
    returns        the number, exactly, for one channel

    Each tile computes all the values of the first result that it reads, and each of them once. A
    value that several tiles read is computed by each of them.
    """
    total = 1
    for size, part in zip((height, width), tile, strict=True):
        tiles = -(-size // part)  # n rows of a tile read (n - 1) * stride + window
        total *= stride * size + tiles * (window - stride)
    return total


@exercise("u08.one_thread", unit=8, points=2, kind="inverse", further=True)
def one_thread() -> str:
    """Write a kernel, as loop text, with two nested loops that may change places although neither
    may run in parallel.

    There are exactly two loops, one in the other, and nothing stands beside the inner one. The
    kernel writes `out` with `=` only, because the order of a sum may be changed. All indices are
    affine, and each loop has at least three iterations.
    """
    return """
    kernel @both(out: f32[9,9]) {
      for i in 1..9 {
        for j in 1..9 {
          out[i, j] = out[i - 1, j] + out[i, j - 1]
        }
      }
    }"""


@exercise("u08.eliminate", unit=8, points=2, kind="implement", further=True)
def eliminate(conditions: Sequence[tuple[int, ...]], k: int) -> list[tuple[int, ...]]:
    """What the conditions say about the other variables: one step of Fourier and Motzkin.

    conditions  (2, -1, 5) says that 2*x - y + 5 >= 0: a coefficient for each variable, and then the
                constant
    k           the number of the variable to be eliminated, from 0 on
    returns     conditions that all have the coefficient 0 at k. Values of the other variables,
                which may be fractions, satisfy them exactly if there is a fraction for variable k
                with which all the given conditions hold
    """
    low = [row for row in conditions if row[k] > 0]
    high = [row for row in conditions if row[k] < 0]
    rows = [tuple(row) for row in conditions if row[k] == 0]
    for a in low:
        for b in high:
            rows.append(tuple(a[k] * y - b[k] * x for x, y in zip(a, b, strict=True)))
    return rows
