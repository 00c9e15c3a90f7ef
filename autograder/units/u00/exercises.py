"""Unit 0, the tour: a number, seven claims about a kernel, a program, an explanation.

The fifth exercise is a function of the library: course_lib/accelerator/systolic.py: cycles.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.accelerator.systolic import SystolicArray, cycles
from course_lib.exercises import exercise
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph


@exercise("u00.intensity", unit=0, points=1, kind="number")
def intensity(images: int, inputs: int, outputs: int) -> float:
    """FLOP per byte of a layer, `relu(x @ w + b)`, that runs as one kernel.

    x: f32[images,inputs]    w: f32[inputs,outputs]    b: f32[outputs]
    result: f32[images,outputs]

    A multiply-add counts as two operations; adding `b` and `relu` count as one each, for
    each element of the result. Each of the four tensors crosses the memory bus once. The
    answer must be right within 0.1 %. The first layer of the course's perceptron, on one
    image, is `intensity(1, 784, 512)`.
    """
    flop = 2 * images * inputs * outputs + 2 * images * outputs
    elements = images * inputs + inputs * outputs + outputs + images * outputs
    return flop / (4 * elements)


@exercise("u00.claims", unit=0, points=2, kind="evidence")
def claims(mo: int, no: int, mi: int, ni: int, k: int, lanes: int) -> str:
    """Which claims about this kernel are false? Their letters, such as "BD", in any order.

        kernel @layer(x0: f32[12,64], x1: f32[64,48], x2: f32[48], out: f32[12,48]) {
          parallel mo in 0..2 {
            for no in 0..3 {
              local acc: f32[6,16]
              unroll mi in 0..6 {
                vector ni in 0..16 {
                  acc[mi, ni] = 0.0
                }
              }
              for k in 0..64 {
                unroll mi_2 in 0..6 {
                  vector ni_2 in 0..16 {
                    acc[mi_2, ni_2] += x0[mi_2 + 6*mo, k] * x1[k, ni_2 + 16*no]
                  }
                }
              }
              unroll mi_3 in 0..6 {
                vector ni_3 in 0..16 {
                  out[mi_3 + 6*mo, ni_3 + 16*no] = relu(acc[mi_3, ni_3] + x2[ni_3 + 16*no])
                }
              }
            }
          }
        }

    This is `claims(2, 3, 6, 16, 64, 8)`: the extents of its loops, and 8 numbers in a
    vector register. Answer for other extents, too, with `ni` a multiple of `lanes`. The
    claims stay word for word as they are:

    A  The bias x2 is added 64 times to each result.
    B  The value that relu reads was never stored in `out`.
    C  For each k, `acc` is updated by 12 multiply-adds of whole registers.
    D  The lanes of a vector read elements of x1 that lie side by side in memory.
    E  Two threads would each compute half of every sum over k.
    F  Each element of x0 is read for three values of `no`.
    G  `acc` alone needs at most 16 vector registers.
    """
    registers = mi * ni // lanes
    false = {"A": True, "C": registers != 12, "E": True, "F": no != 3, "G": registers > 16}
    return "".join(letter for letter, wrong in false.items() if wrong)


@exercise("u00.busy", unit=0, points=2, kind="inverse")
def busy(array: SystolicArray, macs: int) -> Graph:
    """A graph of one matmul that keeps `array` busy.

    The graph has one operation, a `matmul` of two inputs with two axes each.
    It does exactly `macs` multiply-accumulates, a multiple of the number of cells,
    `array.rows * array.cols`. The array, which does not drain, takes at most
    `macs // (array.rows * array.cols) + 2 * (array.rows + array.cols)` clocks for it.
    That is 320 for 65,536 multiply-accumulates on `SystolicArray(16, 16)`.
    """
    k = macs // (array.rows * array.cols)
    return trace(lambda x, w: x @ w, f"f32[{array.rows},{k}]", f"f32[{k},{array.cols}]")


@exercise("u00.batch", unit=0, points=2, kind="explain")
def batch() -> Rubric:
    """A core does 100 GFLOP/s at best, and its memory delivers 25 GB/s. It runs the layer of the
    picture above, 784 inputs and 512 outputs, and no cache still holds anything from the previous
    call. Would registers twice as wide make it faster on one image? Would 64 images at once take 64
    times as long? Two to five sentences, with a number for each answer.
    """
    return Rubric(
        criteria=(
            "1 point: on one image memory is the limit (0.5 FLOP per byte is far below 100 / 25 = "
            "4, or 1.6 MB take 65 µs and 0.8 MFLOP take 8 µs), so wider registers do not help. "
            "1 point: 64 images read the weights once, so bytes grow by a fifth while FLOP grow 64 "
            "times (27 FLOP per byte: now arithmetic is the limit); the time grows far less than "
            "64 times, about 8 times (515 µs against 65 µs)."
        ),
        samples=(
            Sample(
                2,
                "The weights are 1.6 MB, which take 65 µs at 25 GB/s; the 0.8 MFLOP take 8 µs. So "
                "one image waits for memory and wider registers change nothing. With 64 images "
                "the weights are still read once, and 51 MFLOP at 100 GFLOP/s take 0.51 ms: "
                "8 times as long, not 64 times.",
            ),
            Sample(
                1,
                "The layer does 0.5 FLOP per byte and the core could do 4, so it is limited by "
                "memory and wider registers do not help. 64 images are 64 times the work, so it "
                "takes 64 times as long.",
            ),
            Sample(
                0,
                "Wider registers do twice as many multiplications per instruction, so the layer is "
                "twice as fast. 64 images take a little less than 64 times because of caches.",
            ),
        ),
    )


@exercise("u00.shape", unit=0, points=2, further=True, uses=("accelerator.systolic.cycles",))
def shape(parts: list[tuple[int, int, int, int]], cells: int) -> tuple[int, int]:
    """The shape (rows, cols) of an array that does all products in the fewest clocks.

    Each of `parts` is (count, m, k, n): `count` products of [m, k] and [k, n]. All run one after
    another, and the array does not drain. `rows * cols` is exactly `cells`, and `rows` may be
    smaller or larger than `cols`. If several shapes are equally fast, any of them is right. Count
    the clocks with your `cycles`.
    """
    shapes = [(rows, cells // rows) for rows in range(1, cells + 1) if cells % rows == 0]
    return min(
        shapes,
        key=lambda s: sum(count * cycles(m, k, n, SystolicArray(*s)) for count, m, k, n in parts),
    )
