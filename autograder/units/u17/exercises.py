"""Unit 17, tinygrad from the inside: its exercises. One is the library's, `plugins/narrow.py`.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u17/tensors.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from lessons.u17.rows import TYPES


@exercise("u17.windows", unit=17, points=3, kind="implement", further=True)
def windows(n: int, k: int) -> str:
    """Make all windows of k neighbours by movements alone.

    n, k     x has n numbers, and a window has k of them; 1 <= k <= n
    returns  a program that reads `x`. Its last line has the shape n - k + 1, k, and its element
             (i, j) is element i + j of x

    Every line is one of the six movement operations, so that nothing is computed and nothing is
    copied. No line makes more than (k + 1) · n numbers.
    """
    return f"""
    row = reshape x 1,{n}
    rows = expand row {k},{n}
    flat = reshape rows {k * n}
    longer = pad flat 0:{k}
    skew = reshape longer {k},{n + 1}
    cut = shrink skew 0:{k},0:{n - k + 1}
    w = permute cut 1,0
    """


@exercise("u17.normalized", unit=17, points=4, kind="budget", further=True)
def normalized(rows: int, cols: int) -> str:
    """Normalize each row of x, in as few kernels as you can.

    rows, cols  the shape of x, both at least 2
    returns     a program that reads `x`. Its last line is (x - m) / sqrt(v + 0.00001), where m is
                the mean of the element's row, and v is the mean of (x - m)² in that row

    tinygrad's scheduler counts the kernels. Three earn half of the points, and two earn all of
    them. The worst of several shapes counts. All reductions together read at most four
    numbers for each number of x. A program has at most 1,000 lines.
    """
    return f"""
    s = sum x 1
    m = mul s {1 / cols:.12f}
    xx = mul x x
    t = sum xx 1
    q = mul t {1 / cols:.12f}
    mm = mul m m
    v = sub q mm
    ve = add v 0.00001
    sd = sqrt ve
    r = reciprocal sd
    mr = mul m r
    first = reshape r {rows},1
    second = reshape mr {rows},1
    left = pad first 0:0,0:1
    right = pad second 0:0,1:0
    both = add left right
    scale = shrink both 0:{rows},0:1
    shift = shrink both 0:{rows},1:2
    scaled = mul x scale
    y = sub scaled shift
    """


@exercise("u17.bounds", unit=17, points=4, kind="implement")
def bounds(rows: list[tuple]) -> list[tuple[int, int]]:
    """Find the lowest and the highest value of each row of an integer expression.

    rows     one or more rows; %0 is rows[0], and a row reads only rows above it
    returns  a pair (lowest, highest) for each row; True and False count as 1 and 0

    ("between", low, high) is any whole number from low to high. "add", "mul", "max" and "lt" are
    followed by the indices of two rows; "lt" gives 1 if the first is less, else 0. ("floordiv", i,
    c) and ("mod", i, c) divide row i by the positive number c as `//` and `%` do. ("cast", i, name)
    keeps as many low bits of row i as the type has: 130 becomes -126 in "int8". TYPES has each
    type's lowest and highest value.

    Operands take all values within their bounds, independently of each other. A pair covers every
    value that its row can then have, and no narrower pair does. The numbers of "between" lie within
    -2**61 to 2**61: there is no time to try all values.
    """
    pairs: list[tuple[int, int]] = []
    for op, *args in rows:
        if op == "between":
            pairs.append((args[0], args[1]))
            continue
        low, high = pairs[args[0]]
        if op == "floordiv":
            pairs.append((low // args[1], high // args[1]))
        elif op == "mod":
            pairs.append(_around(low, high, 0, args[1]))
        elif op == "cast":
            least, most = TYPES[args[1]]
            pairs.append(_around(low, high, least, most - least + 1))
        else:
            a, b = pairs[args[1]]
            products = low * a, low * b, high * a, high * b
            pairs.append({
                "add": (low + a, high + b),
                "mul": (min(products), max(products)),
                "max": (max(low, a), max(high, b)),
                "lt": (int(high < a), int(low < b)),
            }[op])  # fmt: skip
    return pairs


def _around(low: int, high: int, least: int, count: int) -> tuple[int, int]:
    """Bounds of numbers that wrap around: `count` of them, from `least` on."""
    if (low - least) // count == (high - least) // count:
        turns = (low - least) // count * count
        return low - turns, high - turns
    return least, least + count - 1


@exercise("u17.culprit", unit=17, points=2, kind="evidence")
def culprit() -> tuple[str, str, tuple[int, int]]:
    """At which boundary does the program above become wrong, and because of which line?

    returns  the name of the pass, as the page after it shows it; the name of the first line with
             false bounds on the page before it; and the true bounds of that line

    The operations before this pass still count the right number, but those after it do not. Bounds
    are false if the line takes a value outside them. The true bounds are the lowest and the highest
    value that it takes.
    """
    return "symbolic+reduce_collapse+debuf", "%5", (-128, 127)


@exercise("u17.why", unit=17, points=2, kind="explain")
def why() -> Rubric:
    """tinygrad's bounds of a cast are too narrow, so a count came out as 0. Your rule from section
    4 relies on the same bounds. Describe a program for which it therefore stores wrong numbers,
    with an input x that shows it; `tried(narrowed, program, x)` runs it. Say whether the rule or
    the bounds must be mended, and why. Then explain why the checks in section 4 did not find the
    fault. Write three to six sentences.
    """
    return Rubric(
        criteria="0.5 points: a program in which a cast wraps, and an operation after it brings "
        "the false bounds into -128 to 127 while the true ones are not: a uint8 cast to int8, cast "
        "to int32, minus 128. 0.5 points: a value: 200 is -56 as int8 and -184 after the "
        "subtraction; stored in 8 bits it is 72. 0.5 points: the bounds have to be mended. They"
        " promise that every value lies between them, all passes rely on that promise, and the "
        "rule is right as long as it is kept. 0.5 points: none of the programs of these checks "
        "contains a cast that wraps, so all their bounds are true; it takes a program with such a "
        "cast, or a test of the bounds against all values.",
        samples=(
            Sample(2, "Read uint8 numbers as int8, cast to int32 and subtract 128. tinygrad "
                   "believes that the cast gives 0 to 127, so the difference would be -128 to -1 "
                   "and my rule stores it in 8 bits. The byte 200 is -56, and -184 after the "
                   "subtraction, which becomes 72 in int8. The bounds are wrong and not the rule:"
                   " vmin and vmax are a promise to all passes, and every other rule that asks "
                   "for them fails as well. The programs of the checks multiply, shift and clip, "
                   "and none of their casts wraps, so their bounds are true and the rule passed; "
                   "one has to compare the bounds with all values of each operation."),
            Sample(1, "If a cast wraps around, the numbers are not where tinygrad thinks they are, "
                   "and my rule would cut them off again. The bounds should be mended because "
                   "other passes use them, too."),
            Sample(0, "My rule should store int16 to be safe, because 8 bits are too few for some "
                   "numbers."),
        ),
    )  # fmt: skip


@exercise("u17.laws", unit=17, points=2, kind="evidence")
def laws() -> dict[int, dict[str, int]]:
    """Which of the rules above are false?

    returns  the number of each false rule, with values of its variables for which its two sides
             differ: {3: {"x": 5, "y": -1}}

    Variables are whole numbers from -20 to 20; `//` and `%` are those of Python, cdiv(a, b)
    rounds towards zero, and i8(a) keeps the low 8 bits. Leave out rules that hold for all values.
    """
    return {
        2: {"x": 7, "y": 1},
        3: {"x": 12},
        7: {"x": 1, "y": -1},
        8: {"x": 0, "y": 1},
        9: {"x": 2},
    }
