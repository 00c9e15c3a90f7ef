"""Unit 5, LLVM IR: the exercises that are no function of the library.

The bodies are our answers and never ship. Next room: `lessons/u05/listings.py`,
what the exercises read.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u05.offset", unit=5, points=2, kind="number", further=True)
def offset(turn: int, channel: int) -> int:
    """How many bytes past `%pixels` does the load in `@channel` read?

    turn     which iteration of the loop; the first is turn 0
    channel  the argument `%c`

    Return the exact number of bytes.
    """
    pixel = 1 + 2 * turn  # the phi begins at 1, and each turn adds 2
    return 20 * pixel + 4 + 4 * channel  # i8, three bytes of nothing, three floats, an i32


@exercise("u05.four_sums", unit=5, points=3, kind="inverse", further=True)
def four_sums() -> str:
    """Write LLVM IR for a dot product whose chain is short.

    Return the text of one function with the head `define float @dot(ptr %x, ptr %y, i64 %n)`. It
    returns the dot product of n floats at `%x` and n floats at `%y`, where n is a multiple of 4 and
    at least 4. The chain for n floats is at most n / 4 + 4 operations long; four sums achieve that.
    Each element is read once, and nothing is stored. Use scalar instructions only, no vectors, and
    call nothing but `llvm.fma` and `llvm.fmuladd`.
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
        "  %left = fadd contract float %more0, %more1",
        "  %right = fadd contract float %more2, %more3",
        "  %all = fadd contract float %left, %right",
        *("  ret float %all", "}"),
    ]
    return "\n".join(lines)


@exercise("u05.passes", unit=5, points=3, kind="evidence")
def passes() -> dict[str, str]:
    """Which pass made each of the six changes?

    Return a dict from each letter, "A" to "F", to the name of its pass, one of ADCE, EarlyCSE,
    InstCombine, LICM, LoopRotate, LoopUnroll, LoopVectorize, SROA and SimplifyCFG.
    """
    return {"A": "LICM", "B": "SimplifyCFG", "C": "SROA", "D": "LoopRotate", "E": "EarlyCSE",
            "F": "InstCombine"}  # fmt: skip


@exercise("u05.three_counts", unit=5, points=2, kind="explain")
def three_counts() -> Rubric:
    """The formula counts 109,051,904 multiply-adds in the transformer block, and the walk through
    its LLVM IR counts 1.8 % more. On the perceptron the two agree, but a chip of 32 × 32 cells
    multiplies 32.5 times as often. Where does each difference come from? Which count comes closest
    to what the CPU executes, and which to what the chip does? Name one reason why neither gives the
    time. Write two to five sentences.
    """
    return Rubric(
        criteria="1 point: both reasons. The kernels of the block do more than matrix products: "
        "GELU's erf, the exponentials of softmax and the layer norms are polynomials and sums of "
        "products in LLVM IR, which the formula of the products leaves out. The perceptron "
        "multiplies a matrix by one row, so in each tile 31 of 32 rows of cells compute "
        "nothing useful (padding: the chip computes whole tiles). One reason alone earns half. "
        "1 point: the choice and its limit. The dynamic count of the IR for the CPU (better still "
        "after the optimizer), the padded count for the chip; and a reason why a count is not a "
        "time: the perceptron waits for its weights, erf has a division and comparisons that are "
        "not counted, a chain of additions leaves multipliers idle. 'None of the three predicts "
        "the time, because ...' with such a reason earns the point too. The choice without a "
        "reason earns half, a static count nothing.",
        samples=(
            Sample(2, "GELU and softmax call erf and exp, and in machine code these are "
                   "polynomials of multiply-adds, which the formula m·k·n knows nothing about. The "
                   "MLP has one row; the chip pads it to 32, so it multiplies 32 times too often. "
                   "The IR's executed count is nearest to the CPU, the padded one to the chip. But "
                   "the MLP reads a weight for each multiply-add, so it waits for memory and takes "
                   "longer per multiply-add than the block."),
            Sample(1, "The chip works on whole 32×32 tiles, and the MLP fills one row of each. The "
                   "IR of the block has more since the compiler vectorizes. The IR is closest to "
                   "the CPU and the tiles to the chip, as this is what each machine executes."),
            Sample(0, "The counts differ because -O3 unrolls loops, so there are more "
                   "instructions. The formula is the exact one, so use it everywhere."),
        ),
    )  # fmt: skip
