"""reorder, fuse, compute_at, cache, promote, demote: where they apply, and the words of refusals.

What they do to a kernel is in their docstrings, which run as examples (`test_fuzz_schedules.py`).
"""

import numpy as np
import pytest

from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import loops
from course_lib.schedule.primitives.cache import cache
from course_lib.schedule.primitives.compute_at import compute_at
from course_lib.schedule.primitives.demote import demote
from course_lib.schedule.primitives.fission import fission
from course_lib.schedule.primitives.fuse import fuse
from course_lib.schedule.primitives.promote import promote
from course_lib.schedule.primitives.reorder import reorder
from course_lib.schedule.primitives.split import split


def kernel(body: str) -> Kernel:
    return parse_kernel(f"kernel @k(x: f32[16,16], y: f32[16,16], out: f32[16,16]) {{ {body} }}")


def outcome(kernel: Kernel) -> np.ndarray:
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.integers(-3, 4, b.type.dims).astype(np.float32) for b in kernel.params}
    run_kernel(kernel, arrays)
    return arrays["out"]


PRODUCT = "for i in 0..9 { for j in 0..10 { for k in 0..8 { out[i, j] += x[i, k] * y[k, j] } } }"
SUMS = PRODUCT.replace("9", "4").replace("10", "4")


@pytest.mark.parametrize(
    ("body", "order"),
    [
        (PRODUCT, ("k", "j", "i")),
        (PRODUCT, ("i", "k", "j")),
        ("for i in 0..4 { for j in 0..4 { out[i + 1, j + 1] = out[i, j] } }", ("j", "i")),
        ("for i in 0..3 { for j in 0..3 { for l in 0..4 { out[j, l + 4*i] += x[j, l] } } }",
         ("l", "j", "i")),  # 4*i + l reaches each element once, which the intervals together say
    ],
)  # fmt: skip
def test_reorder_where_every_dependence_stays_forward(body: str, order: tuple[str, ...]) -> None:
    before = kernel(body)
    after = reorder(before, order)
    assert [loop.var for loop in loops(after.body)] == list(order)
    np.testing.assert_array_equal(outcome(after), outcome(before))


@pytest.mark.parametrize(
    ("body", "order", "words"),
    [
        ("for i in 0..4 { for j in 0..4 { for l in 0..4 { out[i + 1, l] = out[i, l + 1] } } }",
         "l j i", r"flow .* through out would run backwards: .* to \(i \+1, j \+0, l -1\)"),
        (SUMS.replace("out[i, j]", "out[i + j, 0]"), "j i k", r"to \(i \+1, j -1, k \+0\)"),
        ("for i in 0..4 { for j in 0..2*i { out[i, j] = 0.0 } }", "j i", "bounds of j depend on i"),
        (PRODUCT, "i k", "reorder i, k: j stands between them, in i"),
        (PRODUCT, "i i", "name each loop once"),
        ("for i in 0..4 { for j in 0..4 { out[i, j] = 0.0 } out[i, 0] = 1.0 }", "j i",
         "j must be all that the body of i has"),
    ],
)  # fmt: skip
def test_reorder_refuses_the_others(body: str, order: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        reorder(kernel(body), order.split())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("for i in 0..4 { for j in 0..4 { out[i, j] = 0.0 } }", "the index i is not a multiple of"),
        ("for i in 0..4 { for j in 0..4 { out[0, j + 4*i] = 0.0 } out[1, 1] = 1.0 }", "must be"),
        ("for i in 0..4 { for j in 0..i { out[0, j + 4*i] = 0.0 } }", "bounds must be numbers"),
        ("for i in 0..2 { for j in 0..4 { for n in 0..1 { out[n, j + 4*i] = 0.0 } } }", "has a n"),
    ],
)
def test_fuse_refuses(body: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fuse(kernel(body), "i", "j", "n")


def test_fuse_undoes_split() -> None:
    before = kernel("for i in 2..14 { out[0, i] = x[i, 2] }")
    apart = split(before, "i", 4)
    assert outcome(fuse(apart, "io", "ii", "i")).tobytes() == outcome(before).tobytes()
    assert fuse(apart, "io", "ii", "i").body != before.body, "it counts from 0, two further"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("for a in 0..9 { t[a] = x[a, 0] } for i in 0..9 { out[0, i] = t[i] } out[1, 1] = t[0]",
         "t must be read in the loop over i only"),
        ("for a in 0..9 { t[a] = out[0, a] } for i in 0..8 { out[0, i + 1] = t[i] }",
         "t is made of out, which changes meanwhile"),
        ("for a in 0..9 { t[a] = x[0, a] out[1, a] = 0.0 } for i in 0..9 { out[0, i] = t[i] }",
         "what computes t writes out too"),
        ("for a in 0..4 { t[a] = x[0, a] } for i in 0..9 { out[0, i] = t[i] }",
         "more of t is read than a computes"),
        ("t[0] = x[0, 0] for i in 0..9 { out[0, i] = t[0] }", "no loop of its own computes t"),
        ("for i in 0..9 { out[0, i] = t[i] } for a in 0..9 { t[a] = x[0, a] }",
         "t is not computed before the loop over i"),
    ],
)  # fmt: skip
def test_compute_at_refuses(body: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compute_at(kernel(f"local t: f32[9] {body}"), "t", "i")


def test_compute_at_a_tile_of_a_stencil() -> None:
    before = kernel(
        """local t: f32[16]
        for a in 0..16 { t[a] = 0.0 for b in 0..3 { t[a] += x[a, b] } }
        for i in 0..12 { out[0, i] = t[i] + t[i + 1] + t[i + 4] }"""
    )
    after = compute_at(split(before, "i", 4), "t", "io")
    assert after.buffers["t"].type.dims == (8,)
    np.testing.assert_array_equal(outcome(after)[0, :12], outcome(before)[0, :12])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("z", "i"), "has no 'z'"),
        (("out", "i"), "the loop writes out"),
        (("x", "k"), "the loop reads no x that was there before"),
        (("y", "i", 2, 4), "y has 2 axes, got 2 by 4"),
        (("y", "m", 1, 3), "which is not 3 \\* outer \\+ inner"),
    ],
)
def test_cache_refuses(arguments: tuple, words: str) -> None:
    body = PRODUCT + " for m in 0..2 { for n in 0..4 { out[m, n] += y[m, n] } }"
    with pytest.raises(ValueError, match=words):
        cache(kernel(body.replace("x[i, k]", "1.0")), *arguments)


def test_cache_of_an_index_that_no_number_bounds() -> None:
    with pytest.raises(ValueError, match="how much lies from 0 to i - 1 is no number"):
        cache(kernel("for i in 1..9 { for j in 0..i { out[i, j] = x[j, 0] } }"), "x", "i")


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("factor", [1, 3, 4, 16])
def test_a_tile_with_a_rest_in_its_last_block(axis: int | None, factor: int) -> None:
    var = {None: "i", 0: "k", 1: "j"}[axis]
    before = kernel(f"for o in 0..1 {{ {PRODUCT} }}")
    parts = split(before, var, factor)
    after = cache(parts, "y", "o", axis, factor)
    sizes = {None: [8, 10], 0: [-(-8 // factor), 10, factor], 1: [-(-10 // factor), 8, factor]}
    assert list(after.buffers["y_tile"].type.dims) == sizes[axis]
    np.testing.assert_array_equal(outcome(after), outcome(before))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("for k in 0..4 { out[k, 0] += x[k, 0] }", "each iteration has elements of its own"),
        ("for k in 0..4 { out[0, 0] += out[0, 1] }", "one place only, not at out"),
        ("for k in 0..4 { for i in 0..4 { for j in 0..4 { out[i + j, 0] += x[k, 0] } } }",
         "reaches the same element several times"),
    ],
)  # fmt: skip
def test_promote_refuses(body: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        promote(kernel(body), "out", "k")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("s[] = x[i, 0] y[0, 0] = 0.0", "the result is not what s is used for"),
        ("s[] = x[i, 0] out[i, 0] = s[] out[i, 1] = s[]", "out is touched elsewhere"),
        ("s[] = x[i, 0] out[i, 0] = s[] + out[i, 0]", "out is touched elsewhere"),
    ],
)
def test_demote_refuses(body: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        demote(kernel(f"for i in 0..4 {{ local s: f32[] {body} }}"), "s")


def test_the_way_of_a_sum_from_a_register_to_memory_and_back_as_a_tile() -> None:
    before = kernel(
        """for i in 0..6 { for j in 0..8 {
          local s: f32[]
          s[] = 0.0
          for k in 0..5 { s[] += x[i, k] * y[k, j] }
          out[i, j] = s[]
        } }"""
    )
    parted = fission(fission(demote(before, "s"), "j"), "i")
    tiled = reorder(split(parted, "i_2", 3), ("i_2o", "k", "j_2", "i_2i"))
    after = promote(tiled, "out", "k")
    assert after.buffers["acc"].type.dims == (8, 3)
    np.testing.assert_array_equal(outcome(after)[:6, :8], outcome(before)[:6, :8])
