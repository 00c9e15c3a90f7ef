"""Unit 0, the tour: a number, six claims about a kernel, a program, an explanation.

The fifth exercise is a function of the library: course_lib/accelerator/systolic.py: cycles.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph


@exercise("u00.intensity", unit=0, points=1, kind="number")
def intensity() -> float:
    """FLOP per byte of the MLP's first layer, `relu(x @ w + b)`, as one kernel on one image.

    x: f32[1,784]    w: f32[784,512]    b: f32[512]    result: f32[1,512]

    A multiply-add counts as two operations, the addition of `b` and `relu` as one for each element.
    Each tensor crosses the memory bus once. Right within 2 %.
    """
    flop = 2 * 784 * 512 + 512 + 512
    return flop / (4 * (784 + 784 * 512 + 512 + 512))


@exercise("u00.claims", unit=0, points=2, kind="evidence")
def claims() -> str:
    """Which claims about this kernel are false? Answer with their letters, such as "BD".

    A compilation for a processor with vector registers of 32 bytes printed:

        kernel @matmul_add_relu_0(x0: f32[12,64], x1: f32[64,48], x2: f32[48], out: f32[12,48]) {
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

    A  The bias x2 is added 64 times to each result, once for each k.
    B  What relu reads was never stored in `out`.
    C  For each k, `acc` is updated by 12 vector multiply-adds.
    D  The lanes of a vector read elements of x1 that lie side by side in memory.
    E  Two threads would each compute half of every sum over k.
    F  Each element of x0 is loaded for three different values of `no`.
    """
    return "AE"


@exercise("u00.busy", unit=0, points=2, kind="inverse")
def busy() -> Graph:
    """A graph of one matmul that keeps a 16 x 16 array busy.

    The graph has one operation, a `matmul` of two inputs with two axes each.
    It does exactly 65,536 multiply-accumulates.
    `SystolicArray(16, 16)` takes at most 320 clocks for it.
    """
    return trace(lambda x, w: x @ w, "f32[16,256]", "f32[256,16]")


@exercise("u00.batch", unit=0, points=2, kind="explain")
def batch() -> Rubric:
    """A core does 100 GFLOP/s at best, and its memory delivers 25 GB/s. It runs the MLP's first
    layer, as in `u00.intensity`. Would registers twice as wide make the layer faster on one image?
    Would 64 images at once take 64 times as long? Two to five sentences, with a number for each.
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
