"""Unit 7, Tiling: the exercises that are no function of the library.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u07/products.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u07.orders", unit=7, points=3, kind="number")
def orders(order: str, n: int) -> int:
    """How many lines does a product of two n × n matrices bring into the cache?

    order    the three loops from the outside to the inside: "mkn", for example
    n        a multiple of 16, at least 32; it may be 4,096 or more, so going through all accesses
             takes too long
    returns  the number of misses, correct within 2 % for each of the six orders

    `out[m, n] += x[m, k] * w[k, n]` is inside the loops. A line holds 16 elements, and each matrix
    begins at the start of a line. The cache is empty at first and keeps the most recently used
    lines. One row of each matrix fits into it at the same time, with a few lines to spare. A column
    does not fit: it touches n lines, and the cache has at most half as many.
    """
    _, middle, inner = order
    lines = 0
    for row, column in ("mn", "mk", "kn"):  # the axes of out, x and w
        if inner == row:
            lines += n**3  # down a column: nothing of it is left when the next run comes
        elif inner == column:  # a row that comes again is there, if no column went by
            lines += n**3 // 16 if middle == row or inner == "k" else n * n // 16
        else:  # one element for each run; the next run wants its neighbour, or another row
            lines += n * n // 16 if middle == column else n * n
    return lines


@exercise("u07.smallest", unit=7, points=1, kind="number", further=True)
def smallest(counts: Mapping[int, int], share: float) -> int:
    """How many lines must a cache keep so that at most this share of the accesses misses?

    counts   {reuse distance: number of accesses}; the key -1, which is always there, stands for the
             first access to a line
    share    between 0 and 1, and never below the share of the first accesses
    returns  the smallest number of lines, exactly; 0 if the share allows every access to miss

    The cache has no sets and keeps the most recently used lines. Where only rounding decides (29
    of 100 may miss, but 0.29 * 100 is less than 29.0), both numbers of lines are right.
    """
    allowed = share * sum(counts.values())
    sizes = sorted(distance + 1 for distance in counts)  # 0 among them: there is a first access
    return next(s for s in sizes if sum(n for d, n in counts.items() if d < 0 or d >= s) <= allowed)


@exercise("u07.blocking", unit=7, points=4, kind="budget")
def blocking(m: int, n: int, k: int, first: int, second: int) -> str:
    """A schedule for a product, as text, that makes the processor wait as little as possible.

    m, n, k   the extents of the loops of `product(m, n, k)`: m is a multiple of 12, n of 16, and k
              of 4
    first     bytes of the first cache, which has 4 ways
    second    bytes of the second cache, which has 8 ways
    returns   the steps, one per line, as `parse_schedule` reads them

    Every step of the language is allowed except `pack`, which would rearrange an operand before the
    product begins and cost nothing here. Score: a miss in the first cache costs 10 cycles, and one
    in the second costs 60 more. What counts is the sum of these costs for each multiply-add, as the
    mean over several products and caches.
    """
    depth = max(d for d in range(1, k + 1) if k % d == 0 and (d == 1 or 8 * d * n <= second))
    return f"""
        split(m, 6)
        split(n, 16)
        split(k, {depth})
        reorder(ko, mo, no, ki, mi, ni)
        unroll(mi)
        vectorize(ni)
        promote(out, ki)
    """


@exercise("u07.apart", unit=7, points=2, kind="explain")
def apart() -> Rubric:
    """You wrote the product as three loops, and their order as a list of steps. A colleague writes
    the same tiled loops by hand, as one C++ function. What does our compiler promise about the
    result of your version, whatever the steps are, and with which exception? What must it read from
    the loops to keep that promise? And what could your colleague write that no list of steps can
    express? One thing is enough. Write three to five sentences. The promise and what it rests on
    are worth one point, and your colleague's advantage is worth the other.
    """
    return Rubric(
        criteria="1 point: a wrong step is refused or only slow, and the result stays, because a "
        "step that changes the order is applied only if no dependence would run backwards; for "
        "that the compiler must see which elements each iteration reads and writes (affine "
        "indices). The exception is `promote`, which relies on += being a sum that may be grouped "
        "otherwise, so that a float sum may be rounded differently. Half a point for the promise "
        "without what it rests on. "
        "1 point: something that is another algorithm and no other order: Strassen's product, a "
        "smaller type, skipping zeros, a loop that stops early, code whose indices are data, "
        "prefetching, instructions of its own. Or something that our language has no step for, "
        "if it is said to be ours.",
        samples=(
            Sample(2, "A bad schedule can only be slow or be refused: a step that changes the "
                   "order checks that nothing is read before it is written. For that the compiler "
                   "must see all indices. Only `promote` may change the last bits, because it adds "
                   "up each block by itself. They can write Strassen's algorithm, which does fewer "
                   "multiplies; no schedule turns my three loops into that."),
            Sample(1, "The schedule cannot change the result, since the compiler checks "
                   "dependences between reads and writes before it reorders loops, and it sees "
                   "them in the indices; sums may be rounded otherwise. Their code is probably "
                   "faster because C++ is closer to the machine."),
            Sample(0, "My version is shorter and easier to read, and it can be tuned without "
                   "touching the algorithm."),
        ),
    )  # fmt: skip


@exercise("u07.bad_width", unit=7, points=2, kind="inverse", further=True)
def bad_width(sets: int, ways: int) -> int:
    """A width at which a cache cannot even keep `ways` + 1 lines of one column of the matrix.

    sets, ways   the shape of the cache; sets is a power of two from 2 to 4,096
    returns      how many elements a row has: a multiple of 16, at least 16 and at most 65,536

    The matrix is row-major and begins at the start of a line, and a line holds 16 elements. The
    first element of each of the rows 0 to `ways` is read, from top to bottom, and then the same
    elements are read again. Every access must miss, although the cache has room for sets × ways
    lines.
    """
    apart, line = sets, 16  # rows that lie so many lines apart begin in the same set
    return apart * line
