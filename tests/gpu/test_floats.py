"""What instructions on floats compute: one rounding, NaN, both zeros, what is subnormal.

Compared with exact rational arithmetic (`plain_floats.py`), with libm, and for `.approx` with the
errors that NVIDIA's "Parallel Thread Execution ISA" (9.0) allows.
"""

import ctypes
import ctypes.util
from fractions import Fraction

import numpy as np
import pytest

from course_lib.gpu.ops.rounding import fma64

from . import plain_floats as exact
from .one import agreed, machine, pairs, reals

HALVES = {"f16": np.float16, "bf16": np.uint16}


def random_bits(type: str, count: int, seed: int) -> np.ndarray:
    """All patterns of bits alike: numbers of every size."""
    bits = exact.size(type)
    found = np.random.default_rng(seed).integers(0, 1 << bits, count, f"u{bits // 8}")
    return found if type == "bf16" else found.view(f"f{bits // 8}")


# ── two operands ──


@pytest.mark.parametrize("type", ["f32", "f64", "f16"])
@pytest.mark.parametrize("name", ["add.rn", "sub.rn", "mul.rn", "div.rn", "min", "max"])
def test_two_floats(name, type):
    if (name, type) == ("div.rn", "f16"):
        return  # there is none
    x, y = pairs(reals(type)[::2], reals(type)[1::2])
    agreed(f"{name}.{type}", type, x, y)
    agreed(f"{name}.{type}", type, random_bits(type, 200, 1), random_bits(type, 200, 2))


@pytest.mark.parametrize("name", ["add", "mul", "div.rn", "min", "max", "add.sat", "mul.sat",
                                  "sub.sat"])  # fmt: skip
def test_ftz_and_sat(name):
    x, y = pairs(reals("f32")[:12], reals("f32")[-19::2])
    parts = name.split(".")
    flush = ".".join([*parts[:-1], "ftz", "sat"] if parts[-1] == "sat" else [*parts, "ftz"])
    for opcode in (f"{name}.f32", f"{flush}.f32"):
        agreed(opcode, "f32", x, y)


@pytest.mark.parametrize("type", ["f32", "f16", "f64"])
def test_the_smaller_one_of_two_zeros_and_of_no_number(type):
    zero, nan = reals(type)[:1], reals(type)[-1:]
    assert np.signbit(machine(f"min.{type}", type, zero, -zero))
    assert np.signbit(machine(f"min.{type}", type, -zero, zero))
    assert not np.signbit(machine(f"max.{type}", type, zero, -zero))
    assert not np.signbit(machine(f"max.{type}", type, -zero, zero))
    assert machine(f"min.{type}", type, nan, zero) == 0
    assert machine(f"max.{type}", type, zero, nan) == 0
    if type != "f64":
        x, y = pairs(reals(type)[[0, 1, 8, 9, -3, -2, -1]], reals(type)[[0, 1, 8, 9, -3, -2, -1]])
        agreed(f"min.NaN.{type}", type, x, y)
        agreed(f"max.NaN.{type}", type, x, y)


def test_what_is_no_number_saturates_to_0():
    nan = reals("f32")[-1:]
    assert machine("add.sat.f32", "f32", nan, nan) == 0
    assert machine("cvt.sat.f32.f32", "f32", nan) == 0
    assert machine("fma.rn.sat.f32", "f32", nan, nan, nan) == 0


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_one_float(type):
    x = np.r_[reals(type), random_bits(type, 200, 3)]
    for name in ("neg", "abs", "sqrt.rn", "rcp.rn"):
        agreed(f"{name}.{type}", type, x)
        if type == "f32":
            agreed(f"{name}.ftz.f32", type, x)
    for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        agreed(f"testp.{name}.{type}", "pred", x)
    numbers = x[~np.isnan(x)]
    agreed(f"copysign.{type}", type, numbers, numbers[::-1].copy())


# ── a product and a sum, rounded once ──


def cancelling(type: str, seed: int) -> list[np.ndarray]:
    """Three operands such that a * b + c loses most of its digits, or lies beside a middle."""
    kind, rng = np.dtype(f"f{exact.size(type) // 8}"), np.random.default_rng(seed)
    a, b = (rng.normal(size=300).astype(kind) for _ in range(2))
    c = (-(a.astype(np.float64) * b)).astype(kind)
    eps = np.finfo(kind).eps
    c[100:200] *= 1 + eps * rng.integers(-3, 4, 100).astype(kind)
    a[200:], b[200:] = 1 + eps * rng.integers(0, 9, 100), 1 + rng.integers(0, 9, 100) / kind.type(8)
    far = rng.integers(-60 if kind.itemsize > 2 else -20, -8, 100)
    c[200:] = rng.choice([-1, 1], 100) * kind.type(2.0) ** far
    return [a, b, c]


@pytest.mark.parametrize("type", ["f32", "f64", "f16"])
def test_fma_rounds_once(type):
    agreed(f"fma.rn.{type}", type, *cancelling(type, 1))
    agreed(f"fma.rn.{type}", type, *(random_bits(type, 300, k) for k in range(3)))
    few = reals(type)[[0, 1, 2, 3, 6, 14, 16, 17, -7, -4, -3, -2, -1]]
    agreed(f"fma.rn.{type}", type, *pairs(few, few, few))


def test_fma_of_f32_does_not_round_twice():
    """(1 + 2^-12)^2 + 2^-60 lies beyond the middle between two float32 by 2^-60: in float64 that
    last part is lost, and the middle is rounded to even, which is down."""
    a, c = np.array([1 + 2**-12], np.float32), np.array([2**-60], np.float32)
    found = machine("fma.rn.f32", "f32", a, a, c)
    assert found == np.float32(1 + 2**-11 + 2**-23)
    assert np.float32(np.float64(a[0]) ** 2 + np.float64(c[0])) != found
    agreed("fma.rn.f32", "f32", a, a, -c)


def test_fma_of_f32_below_the_smallest_normal_number():
    rng = np.random.default_rng(4)
    a, b = (np.float32(2.0) ** rng.integers(-80, -60, 400).astype(np.float32) for _ in range(2))
    a, b = (x * rng.uniform(1, 2, 400).astype(np.float32) for x in (a, b))
    c = (rng.integers(-40, 40, 400) * 2.0**-149).astype(np.float32)
    agreed("fma.rn.f32", "f32", a, b, c)
    agreed("fma.rn.ftz.f32", "f32", a, b, c)
    agreed("mul.rn.f32", "f32", a, b)


def test_fma_of_f64_is_that_of_libm():
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    libm.fma.argtypes, libm.fma.restype = [ctypes.c_double] * 3, ctypes.c_double
    rng = np.random.default_rng(5)
    spread = [np.ldexp(rng.normal(size=500), rng.integers(-540, 540, 500)) for _ in range(2)]
    spread.append(-(spread[0] * spread[1]) * (1 + rng.integers(-2, 3, 500) * 2.0**-52))
    columns = [
        np.concatenate(parts)
        for parts in zip(cancelling("f64", 6), spread,
                         [random_bits("f64", 500, k) for k in (7, 8, 9)], strict=True)
    ]  # fmt: skip
    found = machine("fma.rn.f64", "f64", *columns)
    wanted = np.array([libm.fma(*row) for row in zip(*columns, strict=True)])
    good = (found.view(np.uint64) == wanted.view(np.uint64)) | (np.isnan(found) & np.isnan(wanted))
    assert good.all()
    assert np.isinf(found).any() and (np.abs(found) < 2.0**-1022).any()


# ── sixteen bits ──


@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma.rn", "min", "max"])
def test_sixteen_bits(name, type):
    count = 3 if name == "fma.rn" else 2
    one = [random_bits(type, 600, k) for k in range(count)]
    agreed(f"{name}.{type}", type, *one)
    halves = [x.view(np.uint16).astype(np.uint32) for x in one]
    packed = [h | (h[::-1] << np.uint32(16)) for h in halves]
    if not any(has_nan(p, type) for p in packed):
        raise AssertionError("some are to be no numbers")
    number = ~np.logical_or.reduce([has_nan_each(p, type) for p in packed])
    packed = [p[number] for p in packed]
    found = machine(f"{name}.{type}x2", f"{type}x2", *packed)
    for shift in (0, 16):  # each half is what the instruction for one gives
        part = [(p >> shift).astype(np.uint16).view(HALVES[type]) for p in packed]
        alone = machine(f"{name}.{type}", type, *part)
        half = (found >> shift).astype(np.uint16)
        same = half == alone.view(np.uint16)
        assert (same | no_number(half, type)).all()


def no_number(bits: np.ndarray, type: str) -> np.ndarray:
    return (bits & 0x7FFF) > (0x7C00 if type == "f16" else 0x7F80)


def has_nan_each(packed: np.ndarray, type: str) -> np.ndarray:
    return no_number(packed & 0xFFFF, type) | no_number(packed >> 16, type)


def has_nan(packed: np.ndarray, type: str) -> bool:
    return bool(has_nan_each(packed, type).any())


def test_bf16_is_rounded_once():
    """1.5078125 * 1.0078125 ends in the middle between two numbers, and 2^-100 lies beyond: where
    float32 comes in between, that is lost."""
    a, b, c = (np.array([exact.bits(Fraction(x), "bf16")], np.uint16)
               for x in (193 / 128, 129 / 128, 2.0**-100))  # fmt: skip
    agreed("fma.rn.bf16", "bf16", a, b, c)
    tiny = np.random.default_rng(10).integers(0x1F00, 0x2080, (2, 600), np.uint16)
    found = agreed("mul.bf16", "bf16", *tiny)
    assert ((found & 0x7F80) == 0).any()  # some are subnormal


def test_ftz_and_sat_of_pairs():
    x = np.array([0x00013C00, 0x3C003C00, 0xBC000200], np.uint32)  # 2^-24 and 1; 1 and 1; -1, 2^-15
    assert machine("add.ftz.f16x2", "f16x2", x, "0").tolist() == [0x3C00, 0x3C003C00, 0xBC000000]
    assert machine("add.sat.f16x2", "f16x2", x, x).tolist() == [0x00023C00, 0x3C003C00, 0x00000400]


# ── what is approximate ──

ALLOWED = {  # the manual's bounds: relative, or absolute where a function may be 0
    "rcp": (lambda x: 1 / x, 2.0**-23, 0.0), "sqrt": (np.sqrt, 2.0**-23, 0.0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2.0**-22.9, 0.0), "ex2": (np.exp2, 2.0**-22, 0.0),
    "lg2": (np.log2, 2.0**-22, 2.0**-22), "sin": (np.sin, 0.0, 2.0**-20.9),
    "cos": (np.cos, 0.0, 2.0**-20.9), "tanh": (np.tanh, 2.0**-10.987, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ALLOWED)
def test_approximate_functions(name):
    function, relative, absolute = ALLOWED[name]
    low = 0.01 if name in ("rcp", "sqrt", "rsqrt", "lg2") else -3.0
    x = np.random.default_rng(11).uniform(low, 3, 500).astype(np.float32)
    found = machine(f"{name}.approx.f32", "f32", x).astype(np.float64)
    wanted = function(x.astype(np.float64))
    assert (np.abs(found - wanted) <= relative * np.abs(wanted) + absolute).all()


def test_approximate_functions_at_their_ends():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0], np.float32)
    wanted = {
        "rcp": [np.inf, -np.inf, 0.0, -0.0, np.nan, -1.0],
        "sqrt": [0.0, -0.0, np.inf, np.nan, np.nan, np.nan],
        "rsqrt": [np.inf, -np.inf, 0.0, np.nan, np.nan, np.nan],
        "ex2": [1.0, 1.0, np.inf, 0.0, np.nan, 0.5],
        "lg2": [-np.inf, -np.inf, np.inf, np.nan, np.nan, np.nan],
        "sin": [0.0, -0.0, np.nan, np.nan, np.nan, np.sin(-1.0)],
        "cos": [1.0, 1.0, np.nan, np.nan, np.nan, np.cos(-1.0)],
        "tanh": [0.0, -0.0, 1.0, -1.0, np.nan, np.tanh(-1.0)],
    }
    for name, values in wanted.items():
        found = machine(f"{name}.approx.f32", "f32", x)
        np.testing.assert_array_equal(found, np.array(values, np.float32), name)
        zero = np.array(values) == 0
        assert (np.signbit(found) == np.signbit(values))[zero].all(), name


def test_an_approximate_quotient():
    rng = np.random.default_rng(12)
    x, y = (rng.normal(size=500).astype(np.float32) for _ in range(2))
    wanted = x.astype(np.float64) / y
    for name in ("div.approx.f32", "div.full.f32"):
        found = machine(name, "f32", x, y).astype(np.float64)
        assert (np.abs(found - wanted) <= 2 * 2.0**-23 * np.abs(wanted)).all()  # 2 ulp


def test_a_finite_product_that_overflows_is_still_less_than_infinity():
    huge, inf = np.full((1, 1), 1e300), np.full((1, 1), np.inf)
    with np.errstate(all="ignore"):
        assert fma64(huge, huge, -inf) == -inf and fma64(huge, -huge, inf) == inf
        assert np.isnan(fma64(inf, huge, -inf))
