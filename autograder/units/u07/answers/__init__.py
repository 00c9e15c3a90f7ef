"""Unit 7, Tiling: the exercises that are no function of the library.

The bodies are our answers and never ship; the files beside this one are the notebook's material.
Next room: products.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u07.orders", unit=7, points=2, kind="number")
def orders(order: str, n: int) -> int:
    """How many lines does a product of two n × n matrices bring into the cache?

    order    the three loops from the outside to the inside: "mkn", for example
    n        a multiple of 16
    returns  the number of misses, right within 2 %, for each of the six orders

    `out[m, n] += x[m, k] * w[k, n]` is inside the loops. A line holds 16 elements, and each matrix
    begins at the start of a line. The cache is empty at first and keeps the lines that were asked
    for last. A row of each matrix fits into it, with a few lines to spare, but a column does not:
    it touches n lines, and the cache has fewer.
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


@exercise("u07.smallest", unit=7, points=1, kind="number")
def smallest(counts: Mapping[int, int], share: float) -> int:
    """How many lines must a cache keep so that at most this share of the accesses misses?

    counts   {reuse distance: number of accesses}; the key -1 stands for the first access of a line
    share    between 0 and 1, and never below the share of the first accesses
    returns  the smallest number of lines, exactly; 0 if even no cache at all misses few enough

    The cache keeps the lines that were asked for last, wherever they come from.
    """
    allowed = share * sum(counts.values())
    sizes = sorted(distance + 1 for distance in counts)  # 0 among them: there is a first access
    return next(s for s in sizes if sum(n for d, n in counts.items() if d < 0 or d >= s) <= allowed)


@exercise("u07.blocking", unit=7, points=4, kind="budget")
def blocking(m: int, n: int, k: int, first: int, second: int) -> str:
    """A schedule for a product, as text, that makes the processor wait as little as you can.

    m, n, k   the extents of the loops m, n and k of `product(m, n, k)`: m is a multiple of 12, n
              and k are multiples of 16
    first     bytes of the first cache, which has 4 ways
    second    bytes of the second cache, which has 8 ways
    returns   the steps, one in a line, as in `parse_schedule`

    Every step of the language is allowed but `pack`, which would rearrange an operand before the
    product begins and cost nothing here. Score: a miss in the first cache costs 10 cycles, one in
    the second 60 more. Their sum, for each multiply-add, counts as the mean over several products.
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


@exercise("u07.register_tile", unit=7, points=2, kind="number")
def register_tile(registers: int) -> tuple[int, int]:
    """The tile of sums that needs the fewest loads for each multiply-add: (rows, vectors), exactly.

    Each step of k loads `vectors` vectors of w and, for each of the rows, one number of x into all
    lanes of a register. Then it does rows × vectors vector multiply-adds. All sums, the vectors of
    w and one number of x must be in registers at the same time, and there are `registers` of them,
    at least 3. If several tiles are equally good, any of them is right.
    """
    fitting = [
        (rows, vectors)
        for vectors in range(1, registers)
        for rows in range(1, registers)
        if rows * vectors + vectors + 1 <= registers
    ]
    return min(fitting, key=lambda tile: (tile[0] + tile[1]) / (tile[0] * tile[1]))


@exercise("u07.apart", unit=7, points=2, kind="explain")
def apart() -> Rubric:
    """Your product is now three lines that say what is computed and a dozen that say in which
    order. A colleague writes the same tiled loops by hand, in one C++ function of sixty lines. What
    can our compiler promise for your version that no compiler can for theirs, and what does it need
    to know about the three lines to keep that promise? Name one thing that your colleague can write
    and that a schedule cannot say. Three to five sentences.
    """
    return Rubric(
        criteria="1 point: whatever the schedule says, the result stays (up to the rounding of a "
        "sum), because each step is applied only if no dependence would run backwards; the "
        "compiler must know what is read and written where (affine indices), and that += may be "
        "taken in any order. Half of it for the promise without what it rests on. "
        "1 point: something that is another algorithm and no other order: Strassen's product, a "
        "smaller type, skipping zeros, a loop that stops early, code whose indices are data, "
        "prefetching, instructions of its own. Or something that our language has no step for, "
        "if it is said to be ours.",
        samples=(
            Sample(2, "A wrong schedule can only be slow or be refused: every step checks the "
                   "dependences, so the product stays the product, except that a float sum is "
                   "rounded in another order. For that it must see all indices, and that += may be "
                   "reordered. They can write Strassen's algorithm, which does fewer multiplies; "
                   "no schedule turns my three lines into that."),
            Sample(1, "The schedule cannot change the result, since the compiler checks "
                   "dependences between reads and writes before it reorders loops. Their code is "
                   "probably faster because C++ is closer to the machine."),
            Sample(0, "My version is shorter and easier to read, and it can be tuned without "
                   "touching the algorithm."),
        ),
    )  # fmt: skip


@exercise("u07.bad_width", unit=7, points=2, kind="inverse", further=True)
def bad_width(sets: int, ways: int) -> int:
    """The width of a matrix of which a cache cannot even keep a strip of `ways` + 1 lines.

    sets, ways   of the cache; sets is a power of two and at least 2
    returns      how many elements a row has: a multiple of 16, at least 16 and at most 65,536

    The matrix is row-major and begins at the start of a line, and a line holds 16 elements. The
    first element of each of the rows 0 to `ways` is read, from top to bottom, and then the same
    elements are read again. Every access must miss, although the cache has room for sets × ways
    lines.
    """
    apart, line = sets, 16  # rows that lie so many lines apart begin in the same set
    return apart * line
