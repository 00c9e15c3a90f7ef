"""What a kernel prefetches: by the end of a block all of the next one, in equal parts."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.ir.loops.nest import Prefetched, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.prefetch import LINE, positions


def product(blocks: int, rows: int, steps: int, lanes: int, dtype: str = "f32") -> str:
    return f"""kernel @product(x: {dtype}[{rows},{steps}], w: {dtype}[{blocks},{steps},{lanes}],
                    out: {dtype}[{blocks},{rows},{lanes}]) prefetch(w, o, i) {{
      for o in 0..{blocks} {{ for r in 0..{rows} {{ for i in 0..{steps} {{
        vector l in 0..{lanes} {{ out[o, r, l] += x[r, i] * w[o, i, l] }} }} }} }} }}"""


size = st.integers(1, 9)


@given(rows=size, steps=size, lanes=st.integers(1, 40), dtype=st.sampled_from(["f32", "f64"]))
def test_all_of_the_next_block_and_little_more(
    rows: int, steps: int, lanes: int, dtype: str
) -> None:
    kernel = parse_kernel(product(4, rows, steps, lanes, dtype))
    (asked,) = kernel.prefetched
    bytes = kernel.buffers["w"].type.dtype.size
    places = positions(kernel, asked)
    block = steps * lanes
    share = math.ceil(block / (rows * steps))
    assert len(places) == math.ceil(share * bytes / LINE)
    for o in range(3):
        found = [
            place.evaluate({"o": o, "r": r, "i": i})
            for r, i in itertools.product(range(rows), range(steps))
            for place in places
        ]
        assert found == sorted(found) and found[0] == (o + 1) * block
        lines = {e * bytes // LINE for e in found}
        wanted = {e * bytes // LINE for e in range((o + 1) * block, (o + 2) * block)}
        # A place may lie in the middle of a line: then the last part ends in the one behind it.
        assert wanted - lines <= {max(wanted)}
        assert max(found) < (o + 1) * block + share * rows * steps


def test_each_step_asks_for_its_part() -> None:
    kernel = parse_kernel(product(4, 9, 64, 32))
    assert [str(p) for p in positions(kernel, kernel.prefetched[0])] == [
        "4*i + 2048*o + 256*r + 2048"
    ]
    one_row = parse_kernel(product(4, 1, 64, 32))  # 32 numbers are two lines
    first, second = positions(one_row, one_row.prefetched[0])
    assert (second - first).const == LINE // 4 and not (second - first).terms


def test_loops_that_begin_elsewhere_begin_with_the_first_part() -> None:
    text = product(4, 9, 64, 32).replace("r in 0..9", "r in 2..9")
    kernel = parse_kernel(text)
    (place,) = positions(kernel, kernel.prefetched[0])
    assert place.evaluate({"o": 0, "r": 2, "i": 0}) == 2048


def test_the_text_says_it() -> None:
    kernel = parse_kernel(product(4, 9, 64, 32))
    assert kernel.prefetched == (Prefetched("w", "o", "i"),)
    assert parse_kernel(print_kernel(kernel)) == kernel


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("prefetch(v, o, i)", "there is no operand 'v'"),
        ("prefetch(out, o, i)", "there is no operand 'out'"),
        ("prefetch(x, o, i)", "o does not move along x"),
        ("prefetch(w, i, o)", "there is no loop o inside of a loop i"),
        ("prefetch(w, o, o)", "there is no loop o inside of a loop o"),
        ("prefetch(w, o, k)", "there is no loop k inside of a loop o"),
        ("prefetch(w, o, l)", "l is vector: when the code runs, it is no loop"),
    ],
)
def test_what_cannot_be_prefetched(asked: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"kernel @product: prefetch .*: {why}"):
        parse_kernel(product(4, 9, 64, 32).replace("prefetch(w, o, i)", asked))


def test_a_place_that_data_decides_cannot_be_prefetched() -> None:
    text = """kernel @k(t: i64[4], w: f32[4,8], out: f32[4,8]) prefetch(w, o, i) {
      for o in 0..4 { for i in 0..8 { out[o, i] = w[t[o], i] } } }"""
    with pytest.raises(ValueError, match="i does not read w at a place that can be computed"):
        parse_kernel(text)


def test_a_share_of_ragged_loops_is_no_number() -> None:
    text = """kernel @k(w: f32[4,8], out: f32[4,8]) prefetch(w, o, i) {
      for o in 0..4 { for i in o..8 { out[o, i] = w[o, i] } } }"""
    with pytest.raises(ValueError, match="the bounds of i must be numbers"):
        parse_kernel(text)


@pytest.mark.parametrize(
    ("loops", "read", "why"),
    [
        (
            "for o in 0..4 { for r in 0..9 { for i in 0..16 {",
            "w[i, o]",
            "overlap, or lie in between",
        ),
        ("for o in 0..4 { for r in 0..9 { for i in 0..16 {", "w[o + r, i]", "overlap"),
        ("unroll r in 0..9 { for o in 0..4 { for i in 0..16 {", "w[o, i]", "r is unroll"),
        ("for r in 0..9 { for o in 0..4 { for i in 0..16 { for j in i..16 {", "w[o, j]", ""),
        (
            "for r in 0..9 { for o in 0..4 { for i in 0..1 { for j in r..16 {",
            "w[o, j]",
            "other loops",
        ),
    ],
)
def test_blocks_are_runs_of_their_own(loops: str, read: str, why: str) -> None:
    text = f"""kernel @k(w: f32[16,16], out: f32[9,4,16]) prefetch(w, o, i) {{
      {loops} out[r, o, i] += {read} {"}" * loops.count("{")} }}"""
    if why:
        with pytest.raises(ValueError, match=why):
            parse_kernel(text)
    else:
        kernel = parse_kernel(text)
        assert [str(p) for p in positions(kernel, kernel.prefetched[0])] == ["i + 16*o + 16"]


def test_a_block_that_is_read_backwards_begins_at_its_beginning() -> None:
    text = """kernel @k(w: f32[4,16], out: f32[4,16]) prefetch(w, o, i) {
      for o in 0..4 { for i in 0..16 { out[o, i] = w[o, 15 - i] } } }"""
    kernel = parse_kernel(text)
    assert [str(p) for p in positions(kernel, kernel.prefetched[0])] == ["i + 16*o + 16"]


def test_nobody_asks_for_a_thousand_lines_at_once() -> None:
    text = """kernel @k(w: f32[4,16000], out: f32[4]) prefetch(w, o, i) {
      for o in 0..4 { for i in 0..1 { for j in 0..16000 { out[o] += w[o, j] } } } }"""
    with pytest.raises(ValueError, match="each iteration would have to ask for 1,000 lines"):
        parse_kernel(text)


def test_of_several_operands_in_one_buffer_the_next_block_is_that_of_the_same() -> None:
    """Weights [o, b, i], used for one b after the other: 64 elements of w[o + 1, b], no others."""
    text = """kernel @k(w: f32[4,16,64], out: f32[4,16]) prefetch(w, o, i) {
      for b in 0..16 { for o in 0..4 { for r in 0..8 { for i in 0..64 {
        out[o, b] += w[o, b, i] } } } } }"""
    kernel = parse_kernel(text)
    assert [str(p) for p in positions(kernel, kernel.prefetched[0])] == [
        "64*b + i + 1024*o + 64*r + 1024"
    ]
