"""Answers about linalg on tensors. Next room: programs.py."""

from __future__ import annotations

import re

from autograder.check.framework import alternative, mutant

MAXIMUM = "arith.maximumf %v, %zero : f32"


def _text(
    m: int,
    k: int,
    n: int,
    relu: str = f"%y = {MAXIMUM}",
    x: str = "(q, i)",
    kinds: str = '"parallel", "parallel", "reduction"',
    start: str = "%zeros",
) -> str:
    a, b, c = f"tensor<{k}x{m}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    return f"""
module {{
  func.func @main(%x: {a}, %w: {b}) -> {c} {{
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : {c}
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
    %p = linalg.generic {{
        indexing_maps = [affine_map<(i, j, q) -> {x}>, affine_map<(i, j, q) -> (q, j)>,
                         affine_map<(i, j, q) -> (i, j)>],
        iterator_types = [{kinds}]}}
        ins(%x, %w : {a}, {b}) outs({start} : {c}) {{
    ^bb0(%xe: f32, %we: f32, %sum: f32):
      %t = arith.mulf %xe, %we : f32
      %s = arith.addf %sum, %t : f32
      linalg.yield %s : f32
    }} -> {c}
    %r = linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}} ins(%p : {c}) outs(%empty : {c}) {{
    ^bb0(%v: f32, %old: f32):
      {relu}
      linalg.yield %y : f32
    }} -> {c}
    return %r : {c}
  }}
}}
"""


@mutant("u10.product")
def x_as_it_lies(m, k, n):
    return _text(m, k, n, x="(i, q)")


@mutant("u10.product")
def all_loops_are_parallel(m, k, n):
    return _text(m, k, n, kinds='"parallel", "parallel", "parallel"')


@mutant("u10.product")
def all_loops_are_sums(m, k, n):
    return _text(m, k, n, kinds='"reduction", "reduction", "reduction"')


@mutant("u10.product")
def the_first_loop_is_the_sum(m, k, n):
    return _text(m, k, n, kinds='"reduction", "parallel", "parallel"')


@mutant("u10.product")
def adds_to_an_empty_tensor(m, k, n):
    return _text(m, k, n, start="%empty")


@mutant("u10.product")
def without_relu(m, k, n):
    return _text(m, k, n).replace(MAXIMUM, "arith.addf %v, %zero : f32")


@mutant("u10.product")
def relu_that_hides_nan(m, k, n):
    relu = "%g = arith.cmpf ogt, %v, %zero : f32\n%y = arith.select %g, %v, %zero : f32"
    return _text(m, k, n, relu)


@mutant("u10.product")
def maxnum_hides_nan(m, k, n):
    return _text(m, k, n, "%y = arith.maxnumf %v, %zero : f32")


@mutant("u10.product")
def maximum_that_knows_no_nan(m, k, n):
    return _text(m, k, n, "%y = arith.maximumf %v, %zero fastmath<fast> : f32")


@mutant("u10.product")
def x_as_in_matmul(m, k, n):
    """With d0, d1, d2 as on the page."""
    text = _text(m, k, n, x="(d0, d2)").replace("(i, j, q)", "(d0, d1, d2)")
    return text.replace("(q, j)", "(d2, d1)").replace("-> (i, j)>]", "-> (d0, d1)>]", 1)


@mutant("u10.product")
def fixed_sizes(m, k, n):
    return _text(2, 3, 4)


@mutant("u10.product")
def m_and_n_exchanged(m, k, n):
    return _text(n, k, m)


@mutant("u10.product")
def transposes_first(m, k, n):
    a, b = f"tensor<{k}x{m}xf32>", f"tensor<{m}x{k}xf32>"
    text = (
        _text(m, k, n, x="(i, q)")
        .replace("ins(%x,", "ins(%xt,")
        .replace(f": {a}, tensor", f": {b}, tensor", 2)
    )
    text = text.replace(f"%x: {b}", f"%x: {a}").replace("%zero =", f"""%e = tensor.empty() : {b}
    %xt = linalg.transpose ins(%x : {a}) outs(%e : {b}) permutation = [1, 0]
    %zero =""")  # fmt: skip
    return text


@mutant("u10.product")
def three_generics(m, k, n):
    """The zeros are copied by a generic of their own."""
    c = f"tensor<{m}x{n}xf32>"
    copy = f"""%copied = linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}} ins(%zeros : {c}) outs(%empty : {c}) {{
    ^bb0(%z: f32, %o: f32):
      linalg.yield %z : f32
    }} -> {c}
    %p = """
    return _text(m, k, n, start="%copied").replace("%p = ", copy, 1)


@mutant("u10.product")
def in_another_precision(m, k, n):
    return _text(m, k, n).replace("f32", "f64")


@mutant("u10.product")
def whole_numbers(m, k, n):
    relu = f"%q = {MAXIMUM}\n%i = arith.fptosi %q : f32 to i32\n%y = arith.sitofp %i : i32 to f32"
    return _text(m, k, n, relu)


@alternative("u10.product")
def compare_and_select(m, k, n):
    relu = "%g = arith.cmpf ugt, %v, %zero : f32\n%y = arith.select %g, %v, %zero : f32"
    return _text(m, k, n, relu)


@alternative("u10.product")
def unless_it_is_small(m, k, n):
    relu = "%g = arith.cmpf ole, %v, %zero : f32\n%y = arith.select %g, %zero, %v : f32"
    return _text(m, k, n, relu)


# ── every operation of `arith` has its meaning ──


@alternative("u10.product")
def twice_negated(m, k, n):
    relu = "%n = arith.negf %v : f32\n%k = arith.minimumf %n, %zero : f32\n%y = arith.negf %k : f32"
    return _text(m, k, n, relu)


@alternative("u10.product")
def nan_is_asked_for(m, k, n):
    relu = (
        "%u = arith.cmpf uno, %v, %v : f32\n"
        "%m = arith.maxnumf %v, %zero : f32\n"
        "%y = arith.select %u, %v, %m : f32"
    )
    return _text(m, k, n, relu)


@alternative("u10.product")
def by_a_difference(m, k, n):
    relu = (
        "%n = arith.subf %zero, %v : f32\n"
        "%b = arith.cmpf oge, %n, %zero : f32\n"
        "%y = arith.select %b, %zero, %v : f32"
    )
    return _text(m, k, n, relu)


@alternative("u10.product")
def by_the_sign_bit(m, k, n):
    relu = (
        "%c = arith.constant 0 : i32\n"
        "%i = arith.bitcast %v : f32 to i32\n"
        "%s = arith.cmpi slt, %i, %c : i32\n"
        "%o = arith.cmpf ord, %v, %v : f32\n"
        "%b = arith.andi %s, %o : i1\n"
        "%y = arith.select %b, %zero, %v : f32"
    )
    return _text(m, k, n, relu)


@alternative("u10.product")
def in_f64(m, k, n):
    relu = (
        "%d = arith.extf %v : f32 to f64\n"
        "%z = arith.constant 0.0 : f64\n"
        "%q = arith.maximumf %d, %z : f64\n"
        "%y = arith.truncf %q : f64 to f32"
    )
    return _text(m, k, n, relu)


@alternative("u10.product")
def zeros_as_a_constant(m, k, n):
    c = f"tensor<{m}x{n}xf32>"
    fill = f"linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}"
    return _text(m, k, n).replace(fill, f"arith.constant dense<0.0> : {c}")


@alternative("u10.product")
def flags_that_keep_nan(m, k, n):
    return _text(m, k, n).replace("%sum, %t :", "%sum, %t fastmath<contract> :")


@alternative("u10.product")
def the_sum_outermost(m, k, n):
    text = _text(m, k, n, kinds='"reduction", "parallel", "parallel"')
    return text.replace("(i, j, q)", "(q, i, j)")


@alternative("u10.product")
def d0_d1_d2_and_generic_zeros(m, k, n):
    text = _text(m, k, n)
    for name, dim in (("i", "d0"), ("j", "d1"), ("q", "d2")):
        text = re.sub(rf"(?<=[(, ]){name}(?=[,)])", dim, text)
    return text.replace("module {", "builtin.module {")


@alternative("u10.product")
def relu_in_place(m, k, n):
    """The second generic reads what it overwrites, and nothing else."""
    c = f"tensor<{m}x{n}xf32>"
    text = _text(m, k, n)
    start = text.index("%r = linalg.generic")
    return (
        text[:start]
        + f"""%r = linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}} outs(%p : {c}) {{
    ^bb0(%v: f32):
      %y = arith.maximumf %v, %zero : f32
      linalg.yield %y : f32
    }} -> {c}
    return %r : {c}
  }}
}}
"""
    )
