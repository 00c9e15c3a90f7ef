"""Answers to unit 6: plausible mistakes that every check must catch, other right ones that pass.

Here: numbers, evidence and the inverse. Next room: cover.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.exercises import slot

RIGHT = {"point": "%rd1", "sum": "%r20", "bytes": 32, "apart": 4, "own": 0}
WAITS = {"flying": 2, "sums": 2}


@mutant("u06.tile")
def only_the_sums(registers):
    return _best(registers, lambda r, v: r * v)


@mutant("u06.tile")
def sums_and_vectors(registers):
    return _best(registers, lambda r, v: r * v + v)


@mutant("u06.tile")
def a_register_for_each_row_too(registers):
    return _best(registers, lambda r, v: r * v + v + r) if registers > 2 else (1, 1)


@mutant("u06.tile")
def the_largest_that_fits(registers):
    fits = _fits(registers, lambda r, v: r * v + v + 1)
    return max(fits, key=lambda t: (t[0] * t[1], t[0]))


@mutant("u06.tile")
def as_one_knows_it(registers):
    return (6, 2) if registers >= 15 else (1, 1)


@mutant("u06.tile")
def the_other_way_round(registers):
    fits = _fits(registers, lambda r, v: r * v + v + 1)
    return max(fits, key=lambda t: t[0] * t[1] / (t[0] + t[1]))[::-1]


@mutant("u06.tile")
def at_most_eight_vectors(registers):
    fits = [(r, v) for r, v in _fits(registers, lambda r, v: r * v + v + 1) if v <= 8]
    return max(fits, key=lambda t: t[0] * t[1] / (t[0] + t[1]))


@mutant("u06.tile")
def at_most_sixteen_rows(registers):
    fits = [(r, v) for r, v in _fits(registers, lambda r, v: r * v + v + 1) if r <= 12]
    return max(fits, key=lambda t: t[0] * t[1] / (t[0] + t[1]))


@mutant("u06.tile")
def looked_up(registers):
    """The files of registers that processors have, and the next smaller of these for all others."""
    known = {3: (1, 1), 4: (2, 1), 8: (2, 2), 16: (4, 3), 32: (5, 5), 64: (9, 6), 128: (11, 10)}
    return known[max(n for n in known if n <= registers)]


@mutant("u06.tile")
def as_square_as_possible(registers):
    side = max(n for n in range(1, registers) if n * n + n + 1 <= registers)
    return side, side


@mutant("u06.tile")
def from_a_formula(registers):
    vectors = max(1, round((registers + 0.25) ** 0.5 - 1))
    return max(1, (registers - vectors - 1) // vectors), vectors


@alternative("u06.tile")
def rows_at_least_vectors(registers):
    """Turned round, a wide tile needs fewer registers and does as much."""
    fits = [(r, v) for r, v in _fits(registers, lambda r, v: r * v + v + 1) if r >= v]
    return max(fits, key=lambda t: t[0] * t[1] / (t[0] + t[1]))


@mutant("u06.tile")
def whole_multiply_adds_for_a_load(registers):
    fits = _fits(registers, lambda r, v: r * v + v + 1)
    return max(fits, key=lambda t: t[0] * t[1] // (t[0] + t[1]))


@alternative("u06.tile")
def as_an_array(registers):
    return np.array(_best(registers, lambda r, v: r * v + v + 1))


def _fits(registers, need):
    sizes = range(1, registers + 1)
    return [(r, v) for r in sizes for v in sizes if need(r, v) <= registers] or [(1, 1)]


def _best(registers, need):
    return max(_fits(registers, need), key=lambda t: t[0] * t[1] / (t[0] + t[1]))


@alternative("u06.tile")
def for_each_number_of_vectors(registers):
    tiles = [((registers - v - 1) // v, v) for v in range(1, max(2, registers // 2))]
    return list(max(tiles, key=lambda t: t[0] * t[1] / sum(t)))


@alternative("u06.tile")
def the_last_of_the_best(registers):
    best = (1, 1)
    for v in range(1, registers):
        for r in range(1, registers):
            if r * v + v + 1 <= registers and r * v * sum(best) >= best[0] * best[1] * (r + v):
                best = (r, v)
    return best


@alternative("u06.tile")
def with_fewest_loads_for_a_product(registers):
    fits = _fits(registers, lambda r, v: r * v + v + 1)
    return min(fits, key=lambda t: 1 / t[0] + 1 / t[1])


@mutant("u06.gpu")
def the_number_in_the_block():
    return {**RIGHT, "point": "%r2"}


@mutant("u06.gpu")
def the_16_bits_that_are_divided():
    return {**RIGHT, "point": "%rs1"}


@mutant("u06.gpu")
def the_first_sum():
    return {**RIGHT, "sum": "%r8"}


@mutant("u06.gpu")
def only_one_matrix():
    return {**RIGHT, "bytes": 16}


@mutant("u06.gpu")
def as_many_bytes_as_in_the_listing():
    return {**RIGHT, "bytes": 36}


@mutant("u06.gpu")
def a_row_apart():
    return {**RIGHT, "apart": 384}


@mutant("u06.gpu")
def the_sum_is_in_memory():
    """As it is in the IR: a load and a store in each of the four steps of the loop."""
    return {**RIGHT, "own": 8}


@mutant("u06.gpu")
def the_address_is_one_threads():
    """The store writes this thread's point, but all threads see the memory."""
    return {**RIGHT, "own": 1}


@mutant("u06.gpu")
def arguments_are_each_threads_own():
    return {**RIGHT, "own": 4}


@mutant("u06.gpu")
def without_the_last():
    return {key: RIGHT[key] for key in ("point", "sum", "bytes", "apart")}


@mutant("u06.waits")
def waits_for_all():
    return {**WAITS, "flying": 0}


@mutant("u06.waits")
def all_five():
    return {**WAITS, "flying": 5}


@mutant("u06.waits")
def one_sum():
    return {**WAITS, "sums": 1}


@mutant("u06.waits")
def four_for_each_iteration():
    return {**WAITS, "sums": 4}


@mutant("u06.waits")
def half_of_it():
    return {"flying": 2}


@alternative("u06.waits")
def as_texts():
    return {key: str(value) for key, value in WAITS.items()}


@alternative("u06.waits")
def the_sums_first():
    return dict(reversed(WAITS.items()))


@alternative("u06.waits")
def as_floating_point():
    return {key: float(value) for key, value in WAITS.items()}


@alternative("u06.gpu")
def without_the_percent_sign():
    return {**RIGHT, "point": "rd1", "sum": "r20"}


@alternative("u06.gpu")
def as_floats():
    return {key: float(value) if isinstance(value, int) else value for key, value in RIGHT.items()}


@alternative("u06.gpu")
def in_another_order_with_blanks():
    return {key: f" {RIGHT[key]} " for key in reversed(RIGHT)}


SUMS = slot("u06.too_early").reference()
WIDE = """
kernel @wide(a: f32[3,6], b: f32[3,8], out: f32[6,8]) {
  local acc: f32[6,8]
  unroll i in 0..6 {
    vector j in 0..8 {
      acc[i, j] = 0.0
    }
  }
  for k in 0..3 {
    unroll i_2 in 0..6 {
      vector j_2 in 0..8 {
        acc[i_2, j_2] += a[k, i_2] * b[k, j_2]
      }
    }
  }
  unroll i_3 in 0..6 {
    vector j_3 in 0..8 {
      out[i_3, j_3] = acc[i_3, j_3]
    }
  }
}"""
DOTS = """
kernel @dots(a: f32[20,8], b: f32[20,8], out: f32[8]) {
  local acc: f32[8]
  vector j in 0..8 {
    acc[j] = 0.0
  }
  for k in 0..20 {
    vector j_2 in 0..8 {
      acc[j_2] += a[k, j_2] * b[k, j_2]
    }
  }
  vector j_3 in 0..8 {
    out[j_3] = acc[j_3]
  }
}"""


@mutant("u06.too_early")
def independent_points():
    return "kernel @k(x: f32[32], out: f32[32]) {\n  vector i in 0..32 {\n" \
           "    out[i] = x[i] * x[i] + x[i]\n  }\n}"  # fmt: skip


@mutant("u06.too_early")
def too_little_to_do():
    return SUMS.replace("24", "2")


@mutant("u06.too_early")
def far_too_large():
    return SUMS.replace("24", "240")


@mutant("u06.too_early")
def another_type():
    return SUMS.replace("f32", "f64")


@mutant("u06.too_early")
def it_writes_nothing():
    return "kernel @k(x: f32[8], out: f32[8]) {\n}"


@mutant("u06.too_early")
def it_writes_another_parameter():
    return SUMS.replace("out", "y")


@mutant("u06.too_early")
def it_writes_two():
    return SUMS.replace("out: f32[8])", "out: f32[8], more: f32[8])").replace(
        "vector j_3 in 0..8 {", "vector j_3 in 0..8 {\n        more[j_3] = acc[j_3]")  # fmt: skip


@mutant("u06.too_early")
def a_graph():
    return "graph @f(%x: f32[8]) -> (f32[8]) {\n  %0 = relu(%x) : f32[8]\n  return %0\n}"


@mutant("u06.too_early")
def an_exponential():
    return SUMS.replace("x[k, j_2] * x[k, j_2]", "exp(x[k, j_2])")


@alternative("u06.too_early")
def a_tile():
    return WIDE


@alternative("u06.too_early")
def one_lane():
    one = DOTS.replace("20,8", "20,1").replace("f32[8]", "f32[1]").replace("0..8", "0..1")
    return one.replace("vector", "for")


@alternative("u06.too_early")
def two_operands():
    return DOTS


FITS, GRID = "fits = [(r, v)", "the same tiles, or some more or fewer that are never the best"
for changed in (
    "reversed(list(range(1,",
    "list(range(1, registers))[:-1]",
    "in range(0, registers)",
):
    equivalent("u06.tile", FITS, changed, because=GRID)
