"""Transposed convolution against its definition: each element of x is spread by the kernel."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from course_lib.ir.graph.build import inp
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.conv_transpose import runs
from course_lib.ir.registry import flops
from course_lib.passes.prepare.decompose import decompose


def by_definition(x, w, extra, strides, pads, dilations, groups) -> np.ndarray:
    """out[stride*i + dilation*k - low] += x[i] * w[k], in f64."""
    (n, ic, *sizes), (_, oc, *kernel), rank = x.shape, w.shape, x.ndim - 2
    low, high = pads[:rank], pads[rank:]
    whole = [s * (m - 1) + d * (k - 1) + 1 + e for s, m, d, k, e in
             zip(strides, sizes, dilations, kernel, extra, strict=True)]  # fmt: skip
    out = np.zeros((n, groups, oc, *whole))
    parts = x.reshape(n, groups, ic // groups, *sizes).astype(float)
    weights = w.reshape(groups, ic // groups, oc, *kernel)
    for tap in itertools.product(*map(range, kernel)):
        spread = np.einsum("ngi...,gio->ngo...", parts, weights[(..., *tap)])
        where = tuple(slice(d * k, d * k + s * (m - 1) + 1, s) for d, k, s, m in
                      zip(dilations, tap, strides, sizes, strict=True))  # fmt: skip
        out[(..., *where)] += spread
    inside = tuple(slice(a, m - b) for a, m, b in zip(low, whole, high, strict=True))
    return out.reshape(n, groups * oc, *whole)[(..., *inside)]


def node(x: str, w: str, **attrs) -> Node:
    return apply("conv_transpose", inp("x", x), inp("w", w), **attrs)


@given(data=st.data(), rank=st.integers(1, 2), groups=st.integers(1, 2))
def test_it_is_what_its_definition_says(data, rank: int, groups: int) -> None:
    def numbers(low: int, high: int, count: int = rank) -> tuple[int, ...]:
        return tuple(data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    sizes, kernel, strides, dilations = numbers(1, 4), numbers(1, 5), numbers(1, 5), numbers(1, 3)
    pads, extra = numbers(0, 4, 2 * rank), numbers(0, 2)
    x = np.arange(np.prod(sizes) * 4, dtype=np.float32).reshape(2, 2, *sizes) - 3
    w = np.arange(np.prod(kernel) * 6, dtype=np.float32).reshape(2, 3, *kernel) % 7 - 2
    attrs = dict(strides=strides, pads=pads, dilations=dilations, groups=groups)
    want = by_definition(x, w, extra, strides, pads, dilations, groups)
    assume(min(want.shape) > 0)
    text = (f"f32[{','.join(map(str, a.shape))}]" for a in (x, w))
    result = node(*text, output_padding=extra, **attrs)
    (got,) = run(Graph.of(list(result.inputs), [result]), [x, w])
    assert result.type.dims == got.shape == want.shape
    np.testing.assert_array_equal(got, want)  # whole numbers: every sum is exact


def test_no_inserted_zero_is_multiplied() -> None:
    dense = 2 * (64 * 56 * 56) * (32 * 4 * 4)  # every x with every weight
    result = node("f32[1,64,56,56]", "f32[64,32,4,4]", strides=(2, 2), pads=(1, 1, 1, 1))
    assert flops(result) == dense


def test_phases_that_read_alike_are_one_convolution() -> None:
    """A kernel of 64 by 64 with stride 32 has 1024 phases."""
    result = node("f32[1,2,3,3]", "f32[2,1,64,64]", strides=(32, 32), pads=(16,) * 4)
    plain = decompose(Graph.of(list(result.inputs), [result]))
    assert [n.op for n in plain.ops].count("conv") == 4
    assert [len(r.taps) for r in runs(64, 32, 1, 16)] == [16, 16]
    assert [r.taps for r in runs(2, 3, 1, 0)] == [((0,), (1,)), ((),)]


@pytest.mark.parametrize(
    ("x", "w", "attrs", "words"),
    [
        ("f32[1,4,5]", "f32[4,2,3,3]", {}, "needs x"),
        ("f32[1,4,5]", "f32[3,2,3]", {}, "the same channels"),
        ("f32[1,3,5]", "f32[3,2,3]", {"groups": 2}, "a multiple of the 2 groups"),
        ("f32[1,4,2]", "f32[4,2,3]", {"pads": (2, 2)}, r"padding 2 \+ 2 leaves nothing of 4"),
    ],
)
def test_what_does_not_fit_is_refused(x: str, w: str, attrs: dict, words: str) -> None:
    with pytest.raises(ValueError, match=f"conv_transpose: .*{words}"):
        node(x, w, **attrs)
