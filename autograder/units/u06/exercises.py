"""Unit 6, Code generation: the exercises that are no function of the library, and their material.

The bodies of the exercises are our answers and never ship. Next room:
autograder/units/u06/checks/__init__.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u06.tile", unit=6, points=2, kind="number", further=True)
def tile(registers: int) -> tuple[int, int]:
    """Which tile of a matrix product does the most multiply-adds for each load, without a spill?

    A tile of rows × vectors keeps that many running sums in registers. For each k, the program
    loads the vectors of b and keeps them in registers, too. Then it takes the rows one after
    another, with one register for a number of a in all lanes and a multiply-add for each vector. So
    every k costs rows + vectors loads.

    registers  how many vector registers there are in all, at least 3
    returns    (rows, vectors), both at least 1. Whole numbers, exactly; if several tiles are best,
               any of them will do
    """
    fits = [(r, v) for r in range(1, registers) for v in range(1, registers)
            if r * v + v + 1 <= registers]  # fmt: skip
    return max(fits, key=lambda t: t[0] * t[1] / (t[0] + t[1]))


@exercise("u06.which_first", unit=6, points=2, kind="explain")
def which_first() -> Rubric:
    """Compared with scheduling after the registers are chosen, scheduling before makes the
    polynomial faster and the linear layer slower. Explain both with the table above: which
    information does a scheduler lack if it comes first, and which freedom has it lost if it comes
    last? Then name one way for a compiler to get the best of both. Write two to six sentences.
    """
    return Rubric(
        criteria="1 point: before allocation the scheduler does not know how many registers there "
        "are: it starts loads of the linear layer early, more values are alive at once than there "
        "are registers, and the spills cost more than the order gains. "
        "0.5 points: after allocation, values that have nothing to do with each other are tied "
        "because they share a register (a later write must wait for earlier readers), so the "
        "polynomial's four independent chains, which share 16 registers, overlap less. "
        "0.5 points: a way: count the living values while scheduling and prefer what ends a life "
        "when they become too many; schedule twice; try both and keep the better; give out free "
        "registers in turn; rename registers in hardware.",
        samples=(
            Sample(2, "Before allocation, the scheduler sees only true dependences and hoists the "
                   "loads of later k, so more than 16 values are alive at once, and 35 of them go "
                   "to memory. After allocation the chains of the polynomial reuse each other's "
                   "registers, and a write has to wait for the reads of the old value, so the "
                   "last chains start late. A scheduler that counts living values and stops "
                   "hoisting at 16 would get both."),
            Sample(1, "If you schedule first you need too many registers and spill, which is slow. "
                   "One could schedule both before and after, and look which is faster."),
            Sample(0, "Scheduling is NP-hard, so the list scheduler is only a heuristic and "
                   "sometimes finds a worse order."),
        ),
    )  # fmt: skip


@exercise("u06.gpu", unit=6, points=2, kind="evidence", further=True)
def gpu() -> dict[str, object]:
    """Read the listing above and return a dict with these keys:

    "point"  the 64-bit register that holds the number of the thread among all threads, which is
             also the number of the point of `out` that it computes
    "sum"    the register that carries the running sum from one iteration to the next
    "bytes"  how many bytes one thread loads from global memory in one iteration
    "apart"  how many bytes lie between the addresses in %rd19 of two neighbouring threads that work
             on the same row of `out`
    "own"    how many lines of the listing load from or store to memory of one thread alone

    Registers are texts such as "%rd3", and the other three values are whole numbers, exactly.
    """
    return {"point": "%rd1", "sum": "%r20", "bytes": 32, "apart": 4, "own": 0}


@exercise("u06.waits", unit=6, points=1, kind="evidence", further=True)
def waits() -> dict[str, int]:
    """Read AMD's listing and return a dict with these keys:

    "flying"  how many of the loop's loads may still be under way when its first multiply-add starts
    "sums"    how many running sums one thread keeps

    Both are whole numbers, exactly.
    """
    return {"flying": 2, "sums": 2}


@exercise("u06.too_early", unit=6, points=2, kind="inverse", further=True,
          uses=("machine.cover", "machine.linear_scan", "machine.list_schedule"))  # fmt: skip
def too_early() -> str:
    """Write a kernel, as loop text, that takes more cycles if it is scheduled before the registers
    are chosen than if it is scheduled after. The core has 8 registers.

    The kernel has at most 100 values, which are loads, numbers and results:
    `len(block_of(parse_kernel(text)).values)`. All values are f32, and the kernel writes
    `out` and nothing else.
    """
    return """
    kernel @sums(x: f32[24,8], out: f32[8]) {
      local acc: f32[8]
      vector j in 0..8 {
        acc[j] = 0.0
      }
      for k in 0..24 {
        vector j_2 in 0..8 {
          acc[j_2] += x[k, j_2] * x[k, j_2]
        }
      }
      vector j_3 in 0..8 {
        out[j_3] = acc[j_3]
      }
    }"""
