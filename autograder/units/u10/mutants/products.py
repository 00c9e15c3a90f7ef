"""Answers about linalg on tensors. Next room: programs.py."""

from __future__ import annotations

import re

from autograder.check.framework import alternative, alternatives, mutants
from course_lib.exercises import slot

product = slot("u10.product").reference
KINDS = '"parallel", "parallel", "reduction"'
FIRST = '"reduction", "parallel", "parallel"'
X, MAP = "(q, i)", "affine_map<(i, j) -> (i, j)>"


def _relu(*lines: str) -> tuple[str, str]:
    """An edit: other lines in place of the maximum of v and zero."""
    return "%y = arith.maximumf %v, %zero : f32", r"\n".join(lines)


COPY = (f"%copied = linalg.generic {{{{indexing_maps = [{MAP}, {MAP}],"
        r' iterator_types = ["parallel", "parallel"]}} ins(%zeros : {c}) outs(%empty : {c}) {{'
        r"\n^bb0(%z: f32, %o: f32):\nlinalg.yield %z : f32\n}} -> {c}\n%p = linalg")  # fmt: skip
TURNED = (r"%e = tensor.empty() : {t}\n%xt = linalg.transpose ins(%x : {a}) outs(%e : {t}) "
          r"permutation = [1, 0]\n%zero = arith")  # fmt: skip

mutants(
    "u10.product",
    x_as_it_lies=(X, "(i, q)"),
    all_loops_are_parallel=('"reduction"', '"parallel"'),
    all_loops_are_sums=(KINDS, '"reduction", "reduction", "reduction"'),
    the_first_loop_is_the_sum=(KINDS, FIRST),
    adds_to_an_empty_tensor=("outs(%zeros", "outs(%empty"),
    without_relu=("maximumf", "addf"),
    relu_that_hides_nan=_relu("%g = arith.cmpf ogt, %v, %zero : f32",
                              "%y = arith.select %g, %v, %zero : f32"),
    maxnum_hides_nan=("maximumf", "maxnumf"),
    maximum_that_knows_no_nan=("%v, %zero", "%v, %zero fastmath<fast>"),
    # With d0, d1, d2 as on the page.
    x_as_in_matmul=(f"(i, j, q) -> {X}>, affine_map<(i, j, q) -> (q, j)>",
                    "(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>"),
    fixed_sizes=lambda m, k, n: product(2, 3, 4),
    m_and_n_exchanged=lambda m, k, n: product(n, k, m),
    transposes_first=(X, "(i, q)", "ins(%x, %w : {a}", "ins(%xt, %w : {t}", "%zero = arith", TURNED,
                      "a, b, c = (", "t = f'tensor<{m}x{k}xf32>'\n    a, b, c = ("),
    # The zeros are copied by a generic of their own.
    three_generics=("outs(%zeros", "outs(%copied", "%p = linalg", COPY),
    in_another_precision=lambda m, k, n: product(m, k, n).replace("f32", "f64"),
    whole_numbers=_relu("%q = arith.maximumf %v, %zero : f32",
                        "%i = arith.fptosi %q : f32 to i32",
                        "%y = arith.sitofp %i : i32 to f32"),
)  # fmt: skip
alternatives(
    "u10.product",
    compare_and_select=_relu("%g = arith.cmpf ugt, %v, %zero : f32",
                             "%y = arith.select %g, %v, %zero : f32"),
    unless_it_is_small=_relu("%g = arith.cmpf ole, %v, %zero : f32",
                             "%y = arith.select %g, %zero, %v : f32"),
    # Every operation of `arith` has its meaning.
    twice_negated=_relu("%n = arith.negf %v : f32", "%k = arith.minimumf %n, %zero : f32",
                        "%y = arith.negf %k : f32"),
    nan_is_asked_for=_relu("%u = arith.cmpf uno, %v, %v : f32",
                           "%m = arith.maxnumf %v, %zero : f32",
                           "%y = arith.select %u, %v, %m : f32"),
    by_a_difference=_relu("%n = arith.subf %zero, %v : f32", "%b = arith.cmpf oge, %n, %zero : f32",
                          "%y = arith.select %b, %zero, %v : f32"),
    by_the_sign_bit=_relu("%c = arith.constant 0 : i32", "%i = arith.bitcast %v : f32 to i32",
                          "%s = arith.cmpi slt, %i, %c : i32", "%o = arith.cmpf ord, %v, %v : f32",
                          "%b = arith.andi %s, %o : i1", "%y = arith.select %b, %zero, %v : f32"),
    in_f64=_relu("%d = arith.extf %v : f32 to f64", "%z = arith.constant 0.0 : f64",
                 "%q = arith.maximumf %d, %z : f64", "%y = arith.truncf %q : f64 to f32"),
    zeros_as_a_constant=("linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}",
                         "arith.constant dense<0.0> : {c}"),
    flags_that_keep_nan=("%sum, %t :", "%sum, %t fastmath<contract> :"),
    the_sum_outermost=lambda m, k, n: (
        product(m, k, n).replace(KINDS, FIRST).replace("(i, j, q)", "(q, i, j)")),
    # The second generic reads what it overwrites, and nothing else.
    relu_in_place=(f"{MAP}, {MAP}", MAP, "ins(%p : {c}) outs(%empty : {c})", "outs(%p : {c})",
                   "(%v: f32, %old: f32)", "(%v: f32)"),
)  # fmt: skip


@alternative("u10.product")
def d0_d1_d2_and_generic_zeros(m, k, n):
    text = product(m, k, n)
    for name, dim in (("i", "d0"), ("j", "d1"), ("q", "d2")):
        text = re.sub(rf"(?<=[(, ]){name}(?=[,)])", dim, text)
    return text.replace("module {", "builtin.module {")
