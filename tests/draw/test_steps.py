"""Tiles, addresses and cache lines: what the pictures say is what numpy and the layouts compute."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.draw.plots.addresses import addresses, cache_lines
from course_lib.draw.plots.tiles import tiles
from course_lib.ir.ops.layout import rearranged

LAYOUTS = ("nchw", "nhwc", "nchw16c", "nhcw", "nchw2c")


def steps_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if "read so far" in line]


@given(st.tuples(*[st.integers(1, 6)] * 3), st.tuples(*[st.integers(2, 4)] * 3))
def test_the_tiles_of_a_product_add_up_to_it(sizes, tile):
    m, n, k = sizes
    steps = steps_of(tiles(m, n, k, tile).text)
    up = [math.ceil(size / step) for size, step in zip(sizes, tile, strict=True)]
    assert len(steps) == math.prod(up)
    a, b = np.arange(m * k).reshape(m, k), np.arange(k * n).reshape(k, n)
    c = np.zeros((m, n), int)
    for step in steps:
        exec(step.split(": ")[1].split(";")[0], {"A": a, "B": b, "C": c})
    assert (c == a @ b).all()
    assert steps[-1].endswith(f"{up[1] * m * k} elements of A, {up[0] * k * n} of B")


def test_a_tile_marks_its_rows_its_columns_and_its_block():
    picture = tiles(4, 4, 4, (2, 2, 2))
    first = picture.html.split('class="cl-state"')[1]
    assert first.count('class="cl-marked"') == 3 * 4
    assert "C[0:2, 0:2] += A[0:2, 0:2] @ B[0:2, 0:2]" in picture.text
    assert "i = 2, j = 0, k = 2" in picture.text


def test_products_that_cannot_be_shown_are_refused():
    with pytest.raises(ValueError, match="1 to 24"):
        tiles(4, 0, 4, (2, 2, 2))
    with pytest.raises(ValueError, match="1 to 24"):
        tiles(4, 4, 4, (2, 0, 2))
    with pytest.raises(ValueError, match="too many"):
        tiles(8, 8, 8, (1, 1, 1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_address_is_where_the_rearranged_array_has_the_element(layout):
    shape = (2, 32, 2, 3)
    numbered = np.arange(math.prod(shape)).reshape(shape)
    memory = rearranged(numbered, "nchw", layout).reshape(-1).tolist()
    indices = list(np.ndindex(*shape))[::29]
    text = addresses(shape, layout, indices).text
    said = [line for line in text.splitlines() if " = element " in line]
    for index, line in zip(indices, said, strict=True):
        terms = re.findall(r"(\d+)·(\d+)", line)
        element = sum(int(i) * int(stride) for i, stride in terms)
        assert memory[element] == numbered[index] and f"= element {element}, byte" in line


def test_each_step_shows_index_strides_and_address():
    picture = addresses((1, 2, 3, 4), "nhwc", [(0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 2, 1)])
    assert "nhwc [0, 0, 2, 1]: n 0·24 + h 2·8 + w 1·2 + c 0·1 = element 18, byte 72" in picture.text
    assert "byte 8 of cache line 1" in picture.text
    blocked = addresses((1, 32, 1, 2), "nchw16c", [(0, 17, 0, 1)]).text
    assert "c div 16 1·32 + h 0·32 + w 1·16 + c mod 16 1·1 = element 49, byte 196" in blocked


def test_cache_lines_are_marked_and_counted():
    picture = cache_lines({"one": [0, 1, 5], "two": {60}}, 70, needed=64, title="What is read")
    assert "one: 3 of 70 lines, 33.3 % of their bytes are needed" in picture.text
    assert "two: 1 of 70 lines, 100 %" in picture.text
    assert picture.svg.count('class="cl-dot"') == 4
    assert picture.svg.count('class="cl-region"') == 136


def test_what_is_no_image_and_no_place_in_it_is_refused():
    with pytest.raises(ValueError, match=r"\[0, 2, 0, 0\] is not in an image"):
        addresses((1, 2, 3, 4), "nchw", [(0, 2, 0, 0)])
    with pytest.raises(ValueError, match="1024 elements at most"):
        addresses((1, 64, 56, 56), "nchw", [(0, 0, 0, 0)])
    with pytest.raises(ValueError, match="no layout of images"):
        addresses((1, 2, 3, 4), "oihw", [(0, 0, 0, 0)])
    with pytest.raises(ValueError, match="does not divide"):
        addresses((1, 3, 4, 4), "nchw2c", [(0, 0, 0, 0)])
    with pytest.raises(ValueError, match="shape"):
        addresses((2, 4, 4), "nchw", [(0, 0, 0)])
