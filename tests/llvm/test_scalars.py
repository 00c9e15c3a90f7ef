"""Scalar functions as machine code, against float64: how many units in the last place are they off?

One executable computes all functions of a type over the whole range of its numbers.
"""

import math

import llvmlite.binding
import numpy as np
import pytest

from course_lib.compiler import compile
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import DTYPES, dtype, type_of
from course_lib.llvm.jit import emit_module

# Largest error in units in the last place that we promise (`llvm/approx.py`), for f32.
POLYNOMIALS = {"exp": 2, "tanh": 4, "erf": 4, "sigmoid": 4}
TRUE = {
    "exp": np.exp,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def computed(functions: list[str], x: np.ndarray, cpu: str) -> dict[str, np.ndarray]:
    node = inp("x", type_of(x))
    graph = Graph.of([node], [apply(fn, node) for fn in functions], "scalars")
    results = compile(graph, passes=[], cpu=cpu)(x)
    return dict(zip(functions, results if len(functions) > 1 else [results], strict=True))


def every_kind_of_f32() -> np.ndarray:
    """About 400 000 numbers: all exponents, both signs, and the range where things happen."""
    bits = np.linspace(0, 2**32 - 1, 200_001).astype(np.uint32).view(np.float32)
    around = np.linspace(-110, 110, 200_001, dtype=np.float32)
    limits = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    return np.concatenate([bits, around, limits])


def ulps(got: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Error in units in the last place of the f32 next to the true result."""
    unit = np.spacing(np.abs(true).astype(np.float32)).astype(np.float64)
    return np.abs(got.astype(np.float64) - true) / unit


def test_polynomials_stay_within_the_promised_error(cpu: str) -> None:
    x = every_kind_of_f32()
    with np.errstate(all="ignore"):
        results = computed(list(POLYNOMIALS), x, cpu)
        for fn, promised in POLYNOMIALS.items():
            true = TRUE[fn](x.astype(np.float64))
            normal = (np.abs(true) >= np.finfo(np.float32).tiny) & (np.abs(true) < 3.4028235e38)
            worst = ulps(results[fn], true)[normal].max()
            assert worst <= promised, f"{fn}: {worst:.2f} units in the last place"


def test_results_too_small_for_a_normal_number_are_next_to_zero(cpu: str) -> None:
    x = every_kind_of_f32()
    with np.errstate(all="ignore"):
        for fn, got in computed(list(POLYNOMIALS), x, cpu).items():
            true = TRUE[fn](x.astype(np.float64))
            small = np.abs(true) < np.finfo(np.float32).tiny
            assert np.all(np.abs(got[small]) <= np.finfo(np.float32).tiny), fn


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_limits(kind: type, cpu: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], kind)
    got = computed(["exp", "tanh", "erf", "sigmoid", "relu", "sqrt", "floor"], x, cpu)
    nan = np.nan
    expected = {
        "exp": [1, 1, np.inf, 0, nan],
        "tanh": [0, 0, 1, -1, nan],
        "erf": [0, 0, 1, -1, nan],
        "sigmoid": [0.5, 0.5, 1, 0, nan],
        "relu": [0, 0, np.inf, 0, nan],
        "sqrt": [0, 0, np.inf, nan, nan],
        "floor": [0, 0, np.inf, -np.inf, nan],
    }
    for fn, values in expected.items():
        np.testing.assert_array_equal(got[fn], np.array(values, kind), fn)
    for fn in ("tanh", "erf", "sqrt", "floor"):
        assert np.signbit(got[fn][1]), f"{fn}(-0.0) is -0.0"


def test_exp_overflows_where_it_should(cpu: str) -> None:
    x = np.array([88.72, 88.7228, 88.73, 200, -87.3, -87.4, -104, -1e30], np.float32)
    got = computed(["exp"], x, cpu)["exp"]
    assert np.all(np.isfinite(got[:2])) and np.all(np.isinf(got[2:4]))
    assert got[4] > 0 and np.all(got[5:] == 0)


def test_erf_and_tanh_never_leave_one(cpu: str) -> None:
    x = np.linspace(-12, 12, 100_001, dtype=np.float32)
    for fn, got in computed(["erf", "tanh", "sigmoid"], x, cpu).items():
        assert np.all(np.abs(got) <= 1), fn


def cast(x: np.ndarray, target: str, cpu: str) -> np.ndarray:
    node = inp("x", type_of(x))
    graph = Graph.of([node], [apply("cast", node, dtype=target)], "cast")
    return compile(graph, passes=[], cpu=cpu)(x)


def test_f64_to_f16_rounds_once(cpu: str) -> None:
    """Halfway between two f16, and nudged by far less than an f32 can hold."""
    step = 2.0**-10
    halves = 1 + step * (np.arange(64) + 0.5)
    nudged = np.concatenate([halves, halves + 1e-12, halves - 1e-12, -halves - 1e-12])
    tiny = 2.0**-24 * np.array([0.5, 0.5 + 1e-12, 0.5 - 1e-12, 1.5, 1.5 + 1e-12, 1e-30, 0.0])
    large = np.array([65519.999999999, 65520.0, 1e300, np.inf, -np.inf])
    x = np.concatenate([nudged, tiny, -tiny, large])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(cast(x, "f16", cpu), x.astype(np.float16))
    assert np.isnan(cast(np.array([np.nan]), "f16", cpu)[0])


@pytest.mark.parametrize("target", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
def test_float_to_integer_saturates(source: str, target: str, cpu: str) -> None:
    limits = np.iinfo(dtype(target).numpy)
    x = np.array([np.nan, np.inf, -np.inf, 1.9, -1.9, -0.0, 200.5], dtype(source).numpy)
    got = cast(x, target, cpu)
    low, high = limits.min, limits.max
    expected = [0, high, low, 1, max(-1, low), 0, min(200, high)]
    assert got.tolist() == expected


def test_integer_division_never_stops_the_program(cpu: str) -> None:
    for name, numpy in (("i8", np.int8), ("i32", np.int32), ("i64", np.int64)):
        low = np.iinfo(numpy).min
        a, d = np.array([7, -7, low, low, 0, -7], numpy), np.array([0, 0, -1, 0, 0, 2], numpy)
        nodes = [inp("a", f"{name}[6]"), inp("d", f"{name}[6]")]
        graph = Graph.of(nodes, [apply(fn, *nodes) for fn in ("div", "mod", "fmod")], "d")
        div, mod, fmod = compile(graph, passes=[], cpu=cpu)(a, d)
        assert div.tolist() == [0, 0, low, 0, 0, -3]
        assert mod.tolist() == [0, 0, 0, 0, 0, 1]
        assert fmod.tolist() == [0, 0, 0, 0, 0, -1]


def test_integer_powers_wrap_and_have_an_inverse_only_for_one(cpu: str) -> None:
    base = np.array([3, 2, 0, -1, -1, 2, 1, -1, 0], np.int64)
    exponent = np.array([100, 64, 64, 65, -3, -1, -5, -2, -1], np.int64)
    nodes = [inp("a", "i64[9]"), inp("b", "i64[9]")]
    graph = Graph.of(nodes, [apply("pow", *nodes)], "p")
    wrapped = (3**100 + 2**63) % 2**64 - 2**63
    for target in ("interpreter", "cpu"):
        got = compile(graph, passes=[], target=target, cpu=cpu)(base, exponent)
        assert got.tolist() == [wrapped, 0, 0, -1, -1, 0, 1, 1, 0], target


def test_relu_of_minus_zero_is_plus_zero_and_nan_stays(cpu: str) -> None:
    """`passes/clean/strength.py` relies on it: a relu is never -0.0."""
    few = np.array([-0.0, 0.0, -1.0, np.nan, np.inf, -np.inf, 3.0], np.float32)
    values = np.tile(few, 20)
    graph = trace(relu, f"f32[{values.size}]")
    (got,) = compile(graph, passes=[], cpu=cpu).run([values])
    (want,) = run(graph, [values])
    assert np.array_equal(got, want, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("fn", SCALARS)
def test_every_scalar_function_has_code_for_all_that_it_accepts(fn: str) -> None:
    row = SCALARS[fn]
    for kind in DTYPES.values():
        if kind.kind in row.accepts:
            operands = ", ".join(f"x{k}: {kind}[8]" for k in range(row.arity))
            loaded = ", ".join(f"x{k}[i]" for k in range(row.arity))
            result = "bool" if row.result == "bool" else kind
            for loop in ("for", "vector"):
                text = f"{loop} i in 0..8 {{ out[i] = {fn}({loaded}) }}"
                kernel = parse_kernel(f"kernel @k({operands}, out: {result}[8]) {{ {text} }}")
                llvmlite.binding.parse_assembly(emit_module(kernel)[0]).verify()
