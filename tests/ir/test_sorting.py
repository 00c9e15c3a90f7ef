"""argsort with `first`: the same places as the beginning of the whole order, whatever is equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.ir.graph.build import inp
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply
from course_lib.ir.types import DTYPES, type_of


def places(x: np.ndarray, **attrs) -> np.ndarray:
    node = inp("x", type_of(x))
    order = apply("argsort", node, **attrs)
    (found,) = run(Graph.of([node], [order]), [x])
    assert found.shape == order.type.dims
    return found


@st.composite
def rows(draw) -> np.ndarray:
    """Few different numbers, so that many are equal; zeros of both signs and NaN among floats."""
    dtype = DTYPES[draw(st.sampled_from(sorted(DTYPES)))]
    shape = [draw(st.integers(0, 3)), draw(st.integers(1, 9)), draw(st.integers(1, 2))]
    values = [0, 1, 1, 2, 100] + ([-0.0, -1.5, np.inf, -np.inf] if dtype.is_float else [])
    values += [np.nan] if dtype.is_float and draw(st.booleans()) else []
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return rng.choice(np.array(values), shape).astype(dtype.numpy)


@given(x=rows(), descending=st.booleans(), data=st.data())
def test_the_first_places_begin_the_whole_order(x, descending, data):
    axis = data.draw(st.integers(-3, 2))
    count = data.draw(st.integers(0, x.shape[axis]))
    whole = places(x, axis=axis, descending=descending)
    some = places(x, axis=axis, descending=descending, first=count)
    np.testing.assert_array_equal(some, np.take(whole, np.arange(count), axis))


@pytest.mark.parametrize("shape", [(1, 1000), (7, 513), (3, 2, 350)], ids=str)
@pytest.mark.parametrize("values", ["different", "few", "equal", "a few large", "NaN at the end"])
@pytest.mark.parametrize("type", ["f4", "f2", "i4", "u1"])
@pytest.mark.parametrize("descending", [True, False])
def test_the_first_few_of_many_begin_the_whole_order(shape, values, type, descending):
    """Long rows, of which only the best ones of every few elements are compared at first."""
    rng, kind = np.random.default_rng(0), np.dtype(type)
    x = {
        "different": lambda: rng.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1),
        "few": lambda: rng.integers(0, 9, shape),
        "equal": lambda: np.full(shape, 3),
        "a few large": lambda: 7 * (rng.random(shape) < 0.02),
        "NaN at the end": lambda: rng.integers(0, 99, shape),
    }[values]().astype(kind)
    if values == "NaN at the end" and kind.kind == "f":
        x[0, ..., -1] = np.nan
    whole = places(x, axis=-1, descending=descending)
    for count in (1, 2, 5, 50):
        some = places(x, axis=-1, descending=descending, first=count)
        np.testing.assert_array_equal(some, whole[..., :count])


def test_of_equal_elements_the_first_comes_first():
    x = np.array([3, 9, 1, 9, 9], np.float32)
    assert places(x, axis=0, descending=True, first=2).tolist() == [1, 3]
    assert places(-x, axis=0, first=2).tolist() == [1, 3]


@pytest.mark.parametrize("type", ["f32[4]", "f32[n]"])
def test_there_must_be_so_many(type):
    with pytest.raises(ValueError, match="no 5 elements to put first"):
        apply("argsort", inp("x", type), axis=0, first=5)
