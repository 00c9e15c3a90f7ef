"""Unit 5, LLVM IR: the exercises that are no function of the library.

The bodies are our answers and never ship. Next room: `listings.py`, what the exercises read.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise

# Multiply-adds of the course's models with the library's own functions plugged in: by the formula,
# executed in the LLVM IR that the compiler writes, and multiplications of a chip of 32 x 32 cells.
# tests/units/test_u05.py counts the first two again.
REFERENCE_COUNTS = {
    "mlp": (668_672, 668_672, 21_757_952),
    "block": (109_051_904, 111_018_240, 109_051_904),
}


@exercise("u05.offset", unit=5, points=2, kind="number")
def offset(turn: int, channel: int) -> int:
    """How many bytes behind `%pixels` does the load in `@channel` read?

    turn     which turn of the loop; the first is turn 0
    channel  the argument `%c`

    Return the exact number of bytes.
    """
    pixel = 1 + 2 * turn  # the phi begins at 1, and each turn adds 2
    return 20 * pixel + 4 + 4 * channel  # i8, three bytes of nothing, three floats, an i32


@exercise("u05.four_sums", unit=5, points=3, kind="inverse")
def four_sums() -> str:
    """LLVM IR of a dot product that keeps four sums, so that its chain is short.

    Return the text of one function with the head `define float @dot(ptr %x, ptr %y, i64 %n)`. It
    returns the dot product of n floats at `%x` and n floats at `%y`, where n is a multiple of 4 and
    at least 4. The chain for n floats is at most n / 4 + 4 operations long. Each element is read
    once, and nothing is stored. Use the instructions of the listing above, and `llvm.fma` if you
    like, but no vectors.
    """
    lines = [
        *("define float @dot(ptr %x, ptr %y, i64 %n) {", "entry:", "  br label %loop", "", "loop:"),
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        *(f"  %sum{k} = phi float [ 0.0, %entry ], [ %more{k}, %loop ]" for k in range(4)),
    ]
    for k in range(4):
        lines += [
            f"  %i{k} = add i64 %i, {k}",
            f"  %px{k} = getelementptr float, ptr %x, i64 %i{k}",
            f"  %py{k} = getelementptr float, ptr %y, i64 %i{k}",
            f"  %a{k} = load float, ptr %px{k}",
            f"  %b{k} = load float, ptr %py{k}",
            f"  %p{k} = fmul contract float %a{k}, %b{k}",
            f"  %more{k} = fadd contract float %sum{k}, %p{k}",
        ]
    lines += [
        "  %next = add i64 %i, 4",
        "  %over = icmp eq i64 %next, %n",
        *("  br i1 %over, label %done, label %loop", "", "done:"),
        "  %left = fadd float %more0, %more1",
        "  %right = fadd float %more2, %more3",
        "  %all = fadd float %left, %right",
        *("  ret float %all", "}"),
    ]
    return "\n".join(lines)


@exercise("u05.passes", unit=5, points=3, kind="evidence")
def passes() -> dict[str, str]:
    """Which pass made each of the six changes?

    Return a dict from each letter, "A" to "F", to the name of its pass, one of ADCE, EarlyCSE,
    InstCombine, LICM, LoopRotate, LoopUnroll, LoopVectorize, SROA and SimplifyCFG.
    """
    return {
        "A": "LICM",
        "B": "SimplifyCFG",
        "C": "SROA",
        "D": "LoopRotate",
        "E": "EarlyCSE",
        "F": "InstCombine",
    }


@exercise("u05.three_counts", unit=5, points=2, kind="explain")
def three_counts() -> Rubric:
    """The formula counts 109,051,904 multiply-adds in the transformer block, and the walk through
    its LLVM IR counts 1.8 % more. On the perceptron both agree, but the cells of a chip of 32 × 32
    multiply 32 times as often. Where does each difference come from, and which of the three counts
    would you use to predict the time on the CPU, and which on the chip? Two to five sentences.
    """
    return Rubric(
        criteria="1 point: both reasons. The kernels of the block do more than matrix products: "
        "GELU's erf, the exponentials of softmax and the layer norms are polynomials and sums of "
        "products in LLVM IR, which the formula of the products leaves out. The perceptron "
        "multiplies a matrix by one row, so in each tile 31 of 32 rows of cells compute what "
        "nobody needs (padding: the chip computes whole tiles). One reason alone earns half. "
        "1 point: the choice. On the CPU the dynamic count of the IR, on the chip its cell-clocks "
        "or cycles with the padding, because these are what is executed; the formula says what the "
        "model asks for and is what both are divided by. To name static counts for time earns "
        "nothing.",
        samples=(
            Sample(2, "GELU and softmax call erf and exp, and in machine code these are "
                   "polynomials of multiply-adds, which the formula m·k·n knows nothing about. The "
                   "MLP has one row; the chip pads it to 32, so it multiplies 32 times too often. "
                   "For the CPU I would take the executed count of the IR, for the chip its padded "
                   "count."),
            Sample(1, "The chip works on whole 32×32 tiles, and the MLP fills one row of each. The "
                   "IR of the block has more since the compiler vectorizes. I would use what each "
                   "machine really executes."),
            Sample(0, "The counts differ because -O3 unrolls loops, so there are more "
                   "instructions. The formula is the exact one, so use it everywhere."),
        ),
    )  # fmt: skip
