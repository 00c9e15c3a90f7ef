"""Points of whole numbers against all points; dependences; loops with several bounds."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.ir.expr import Affine
from course_lib.ir.loops.cpp import cpp
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel, Loop, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.polyhedra import points
from course_lib.ir.loops.polyhedra.dependences import dependences
from course_lib.ir.loops.polyhedra.domains import statements_of
from course_lib.ir.loops.polyhedra.points import TooHard, find_point
from course_lib.ir.loops.walk import loops

V = Affine.var
EDGE = 4  # of the box that the points of the first test lie in


@st.composite
def questions(draw) -> tuple[list[str], list[Affine], list[Affine]]:
    names = list("abcd"[: draw(st.integers(1, 4))])
    number = st.sampled_from([0, 0, 1, -1, 2, -3, 5])

    def affine() -> Affine:
        terms = [V(name) * draw(number) for name in names]
        return sum(terms, Affine((), draw(st.integers(-7, 7))))

    zero = [affine() for _ in range(draw(st.integers(0, 2)))]
    return names, zero, [affine() for _ in range(draw(st.integers(0, 3)))]


@given(questions())
def test_a_point_is_found_exactly_if_there_is_one(question) -> None:
    names, zero, positive = question
    positive = [*positive, *(V(n) + EDGE for n in names), *(V(n) * -1 + EDGE for n in names)]

    def inside(at: dict[str, int]) -> bool:
        return not any(a.evaluate(at) for a in zero) and all(a.evaluate(at) >= 0 for a in positive)

    box = itertools.product(range(-EDGE, EDGE + 1), repeat=len(names))
    there = any(inside(dict(zip(names, point, strict=True))) for point in box)
    found = find_point(names, zero, positive)
    assert (found is not None) == there
    assert found is None or inside(found)


def test_the_numbers_are_the_nearest_to_zero_and_need_no_bounds() -> None:
    i, j = V("i"), V("j")
    assert find_point(("i", "j"), [], [i - 3, j * -1 - 2]) == {"i": 3, "j": -2}
    assert find_point(("i", "j"), [i * 3 - j * 5 - 1], [i - 100]) == {"i": 102, "j": 61}
    assert find_point(("i",), [], []) == {"i": 0}


def test_it_gives_up_after_so_many_rows_and_tries(monkeypatch) -> None:
    i, j = V("i"), V("j")
    hard = [], [i * 7 - j * 5 - 1, i * -7 + j * 5 + 1, i, i * -1 + 99]  # an equation in disguise
    assert find_point(("i", "j"), *hard) == {"i": 3, "j": 4}
    monkeypatch.setattr(points, "_solution", points._solution.__wrapped__)  # asks anew each time
    for limit in ("ROWS", "TRIES"):
        with monkeypatch.context() as patch:
            patch.setattr(points, limit, 0)
            with pytest.raises(TooHard):
                find_point(("i", "j"), *hard)


def test_what_is_too_hard_counts_as_a_dependence(monkeypatch) -> None:
    text = "kernel @k(out: f32[60]) { for i in 0..9 { out[2*i] = out[3*i + 1] } }"
    monkeypatch.setattr(points, "_solution", points._solution.__wrapped__)  # asks anew each time
    monkeypatch.setattr(points, "TRIES", 0)
    monkeypatch.setattr(points, "ROWS", 0)
    (loop,) = parse_kernel(text).body
    assert isinstance(loop, Loop)
    first = carried(loop)[0]
    assert first.point is None and first.steps == {} and first.distance == (None,)
    assert first.witness == "whether this is legal is too hard to say"


def of(body: str, params: str = "x: f32[99], out: f32[99]") -> list[tuple]:
    kernel = parse_kernel(f"kernel @k({params}) {{ {body} }}")
    return [(d.kind, d.carrier, d.distance, d.direction) for d in dependences(kernel.body)]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for i in 0..9 { out[i] = x[i] }", []),
        ("for i in 0..9 { out[2*i + 1] = out[2*i] }", []),  # even and odd: the GCD test
        ("for i in 0..9 { out[i + 3] = out[i] }", [("flow", "i", (3,), ("<",))]),
        ("for i in 0..9 { out[i] = out[i + 3] }", [("anti", "i", (3,), ("<",))]),
        ("for i in 0..2 { out[i + 3] = out[i] }", []),  # too short for a distance of 3
        ("for i in 0..4 { out[8 - i] = out[i + 5] }",
         [("anti", "i", (None,), ("<",)), ("flow", "i", (None,), ("<",))]),
        ("for i in 0..9 { out[i] = x[i] } for j in 0..9 { out[j + 8] = out[j] }",
         [("flow", "", (), ()), ("output", "", (), ()), ("flow", "j", (8,), ("<",))]),
        ("for i in 0..4 { for j in 0..4 { out[i + j] = x[j] } }",
         [("output", "i", (None, None), ("<", ">"))]),
        ("for i in 0..4 { local t: f32[] t[] = x[i] out[i] = t[] }", [("flow", "", (0,), ("=",))]),
        ("for i in 0..4 { for j in 0..4 { out[9*i + j] = out[9*i + 2*j] } }",
         [("anti", "j", (0, 1), ("=", "<"))]),
    ],
)  # fmt: skip
def test_kinds_carriers_distances_and_directions(body: str, found: list[tuple]) -> None:
    assert of(body) == found


def test_an_index_that_is_data_touches_everything_along_its_axis() -> None:
    text = "kernel @k(p: i64[4], out: f32[4,4]) { for i in 0..4 { out[p[i], 2] = 1.0 } }"
    (found,) = dependences(parse_kernel(text).body)
    assert found.witness == "iteration (i=1) writes out[p[i], 2], which (i=0) has to write first"


def test_times_have_the_places_of_statements_and_loops() -> None:
    text = "kernel @k(out: f32[9]) { out[8] = 1.0 for i in 0..8 { out[i] = 2.0 out[8] = 3.0 } }"
    times = [[*map(str, s.time)] for s in statements_of(parse_kernel(text).body)]
    assert times == [["0"], ["1", "i", "0"], ["1", "i", "1"]]


# ── loops with several bounds ──

CLIPPED = """kernel @clipped(x: f32[9], out: f32[5,9]) {
  for i in 0..5 {
    for j in max(0, i - 2, -2*i + 3)..min(9, 2*i + 3) {
      out[i, j] = x[j]
    }
  }
}
"""


def clipped() -> Kernel:
    return parse_kernel(CLIPPED)


def test_several_bounds_are_printed_and_read_back() -> None:
    assert print_kernel(clipped()) == CLIPPED
    inner = loops(clipped().body)[1]
    assert inner.extent is None and inner.bounded_by == {"i"}
    with pytest.raises(ValueError, match=r"expected ,? ?.*\)"):
        parse_kernel(CLIPPED.replace("2*i + 3) {", "2*i + 3 {"))


def test_several_bounds_mean_their_maximum_and_minimum() -> None:
    x, out = np.arange(1, 10, dtype=np.float32), np.zeros((5, 9), np.float32)
    run_kernel(clipped(), {"x": x, "out": out})
    inside = [[max(0, i - 2, 3 - 2 * i) <= j < min(9, 2 * i + 3) for j in range(9)]
              for i in range(5)]  # fmt: skip
    np.testing.assert_array_equal(out, np.where(inside, x, 0))


def test_every_bound_helps_to_stay_inside_a_buffer() -> None:
    text = CLIPPED.replace("min(9, 2*i + 3)", "min(2*i + 3)")
    assert loops(parse_kernel(CLIPPED.replace("9, 2*i", "2*i, 9")).body)[1].below
    with pytest.raises(ValueError, match="j runs from 0 to 10"):
        parse_kernel(text.replace("min(2*i + 3)", "2*i + 3"))
    with pytest.raises(ValueError, match=r"vector j: its bounds must be numbers, not max\(0, i"):
        parse_kernel(CLIPPED.replace("for j", "vector j"))
    with pytest.raises(ValueError, match="uses k, which no loop around it defines"):
        parse_kernel(CLIPPED.replace("min(9", "min(k"))


def test_several_bounds_in_cpp() -> None:
    text = cpp(clipped())
    assert "#include <algorithm>" in text
    assert "j = std::max<long>({0, i - 2, -2*i + 3}); j < std::min<long>({9, 2*i + 3})" in text
