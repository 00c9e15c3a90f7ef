"""Answers to unit 6: plausible mistakes that every check must catch, other right ones that pass.

Here: numbers, evidence and the inverse. Next room: cover.py.
"""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.exercises import slot

RIGHT = slot("u06.gpu").reference()
WAITS = slot("u06.waits").reference()
SUMS = slot("u06.too_early").reference()

# The files of registers that processors have, and the next smaller of these for all others.
FILES = {3: (1, 1), 4: (2, 1), 8: (2, 2), 16: (4, 3), 32: (5, 5), 64: (9, 6), 128: (11, 10)}
NEED, BEST = "r * v + v + 1 <= registers", "max(fits, key=lambda t: t[0] * t[1] / (t[0] + t[1]))"
mutants(
    "u06.tile",
    only_the_sums=(NEED, "r * v <= registers"),
    sums_and_vectors=(NEED, "r * v + v <= registers"),
    a_register_for_each_row_too=(NEED, "r * v + v + r <= registers"),
    the_largest_that_fits=(BEST, "max(fits, key=lambda t: (t[0] * t[1], t[0]))"),
    whole_multiply_adds_for_a_load=("/ (", "// ("),
    as_one_knows_it=lambda registers: (6, 2) if registers >= 15 else (1, 1),
    the_other_way_round=(BEST, f"{BEST}[::-1]"),
    at_most_eight_vectors=(NEED, f"{NEED} and v <= 8"),
    at_most_sixteen_rows=(NEED, f"{NEED} and r <= 16"),
    looked_up=lambda registers: FILES[max(n for n in FILES if n <= registers)],
    as_square_as_possible=(NEED, f"{NEED} and r == v"),
)


@mutant("u06.tile")
def from_a_formula(registers):
    vectors = max(1, round((registers + 0.25) ** 0.5 - 1))
    return max(1, (registers - vectors - 1) // vectors), vectors


alternatives(
    "u06.tile",
    # turned round, a wide tile needs fewer registers and does as much
    rows_at_least_vectors=(NEED, f"{NEED} and r >= v"),
    as_an_array=(f"return {BEST}", f"import numpy as np\n    return np.array({BEST})"),
    with_fewest_loads_for_a_product=(BEST, "min(fits, key=lambda t: 1 / t[0] + 1 / t[1])"),
)


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


mutants(
    "u06.gpu",
    the_number_in_the_block=("%rd1", "%r2"),
    the_16_bits_that_are_divided=("%rd1", "%rs1"),
    the_first_sum=("%r20", "%r8"),
    only_one_matrix=("32", "16"),
    as_many_bytes_as_in_the_listing=("32", "36"),
    a_row_apart=("'apart': 4", "'apart': 384"),
    # as it is in the IR: a load and a store in each of the four steps of the loop
    the_sum_is_in_memory=("'own': 0", "'own': 8"),
    # the store writes this thread's point, but all threads see the memory
    the_address_is_one_threads=("'own': 0", "'own': 1"),
    arguments_are_each_threads_own=("'own': 0", "'own': 4"),
    without_the_last=(", 'own': 0", ""),
)
alternatives(
    "u06.gpu",
    without_the_percent_sign=("%rd1", "rd1", "%r20", "r20"),
    as_floats=("32", "32.0", "'apart': 4", "'apart': 4.0", "'own': 0", "'own': 0.0"),
    in_another_order_with_blanks=lambda: {key: f" {RIGHT[key]} " for key in reversed(RIGHT)},
)
mutants(
    "u06.waits",
    waits_for_all=("'flying': 2", "'flying': 0"),
    all_five=("'flying': 2", "'flying': 5"),
    one_sum=("'sums': 2", "'sums': 1"),
    four_for_each_iteration=("'sums': 2", "'sums': 4"),
    half_of_it=(", 'sums': 2", ""),
)
alternatives(
    "u06.waits",
    as_texts=lambda: {key: str(value) for key, value in WAITS.items()},
    the_sums_first=lambda: dict(reversed(WAITS.items())),
    as_floating_point=lambda: {key: float(value) for key, value in WAITS.items()},
)

DOTS = (SUMS.replace("x: f32[24,8]", "a: f32[24,8], b: f32[24,8]").replace("24", "20")
        .replace("x[k, j_2] * x[k, j_2]", "a[k, j_2] * b[k, j_2]"))  # fmt: skip
WIDE = """
kernel @wide(a: f32[3,6], b: f32[3,8], out: f32[6,8]) {
  local acc: f32[6,8]
  unroll i in 0..6 { vector j in 0..8 { acc[i, j] = 0.0 } }
  for k in 0..3 { unroll i_2 in 0..6 { vector j_2 in 0..8 {
    acc[i_2, j_2] += a[k, i_2] * b[k, j_2] } } }
  unroll i_3 in 0..6 { vector j_3 in 0..8 { out[i_3, j_3] = acc[i_3, j_3] } }
}"""
POINTS = """
kernel @k(x: f32[32], out: f32[32]) {
  vector i in 0..32 { out[i] = x[i] * x[i] + x[i] }
}"""
GRAPH = "graph @f(%x: f32[8]) -> (f32[8]) {\n  %0 = relu(%x) : f32[8]\n  return %0\n}"
mutants(
    "u06.too_early",
    independent_points=lambda: POINTS,
    too_little_to_do=lambda: SUMS.replace("24", "2"),
    a_little_too_large=lambda: SUMS.replace("24", "34"),
    far_too_large=lambda: SUMS.replace("24", "240"),
    another_type=lambda: SUMS.replace("f32", "f64"),
    it_writes_nothing=lambda: "kernel @k(x: f32[8], out: f32[8]) {\n}",
    it_writes_another_parameter=lambda: SUMS.replace("out", "y"),
    it_writes_two=lambda: SUMS.replace("out: f32[8]", "out: f32[8], more: f32[8]").replace(
        "out[j_3] =", "more[j_3] = acc[j_3]\n        out[j_3] ="),
    a_graph=lambda: GRAPH,
    an_exponential=lambda: SUMS.replace("x[k, j_2] * x[k, j_2]", "exp(x[k, j_2])"),
)  # fmt: skip
alternatives(
    "u06.too_early",
    as_large_as_allowed=lambda: SUMS.replace("24", "33"),
    a_tile=lambda: WIDE,
    two_operands=lambda: DOTS,
    one_lane=lambda: (
        DOTS.replace(",8]", ",1]").replace("f32[8]", "f32[1]").replace("0..8", "0..1")
        .replace("vector", "for")
    ),
)  # fmt: skip

FITS, GRID = "fits = [(r, v)", "the same tiles, or some more or fewer that are never the best"
for changed in ("reversed(list(range(1,", "list(range(1, registers))[:-1]", "in range(0, regist"):
    equivalent("u06.tile", FITS, changed, because=GRID)
