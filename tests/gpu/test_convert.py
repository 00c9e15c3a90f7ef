"""cvt between every pair of types, at their ends, with NaN and infinities, in all roundings."""

import numpy as np
import pytest

from . import plain_floats as exact
from .one import agreed, machine, reals, words

WHOLE = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
REAL = ["f16", "f32", "f64"]


def given(type: str) -> np.ndarray:
    """Values of a type in a register that holds it: those of 8 bits in one of 32."""
    if type in REAL:
        return reals(type)
    bits = max(32 if type[1:] == "8" else 16, int(type[1:]))
    rng = np.random.default_rng(bits)
    return np.r_[words(bits), rng.integers(0, 1 << bits, 60, f"u{bits // 8}")]


@pytest.mark.parametrize("to", WHOLE)
@pytest.mark.parametrize("source", WHOLE)
def test_between_whole_numbers(to, source):
    """What comes out is looked at in a register of 64 bits: with its sign, or zeros."""
    for opcode in (f"cvt.{to}.{source}", f"cvt.sat.{to}.{source}"):
        agreed(opcode, "u64", given(source))


@pytest.mark.parametrize("to", WHOLE)
@pytest.mark.parametrize("source", REAL)
@pytest.mark.parametrize("how", ["rni", "rzi", "rmi", "rpi"])
def test_from_floats_to_whole_numbers(to, source, how):
    some = np.array([-2.5, -1.5, -0.5, 1.4999, 2.5001, -3.7], given(source).dtype)
    x = np.r_[given(source), some]
    agreed(f"cvt.{how}.{to}.{source}", "u64", x)
    if source == "f32":
        agreed(f"cvt.{how}.ftz.{to}.f32", "u64", x)


def test_what_no_number_becomes():
    """PTX 9.0: "Zero if source is not .f64 and destination is not .s64, .u64"; else the highest bit
    alone."""
    single, double = np.array([np.nan], np.float32), np.array([np.nan])
    assert machine("cvt.rzi.s32.f32", "s32", single) == 0
    assert machine("cvt.rzi.u32.f32", "u32", single) == 0
    assert machine("cvt.rzi.s64.f32", "s64", single) == -(1 << 63)
    assert machine("cvt.rzi.u64.f32", "u64", single) == 1 << 63
    assert machine("cvt.rzi.s32.f64", "s32", double) == -(1 << 31)
    assert machine("cvt.rzi.u32.f64", "u32", double) == 1 << 31


@pytest.mark.parametrize("to", [*REAL, "bf16"])
@pytest.mark.parametrize("source", WHOLE)
def test_from_whole_numbers_to_floats(to, source):
    agreed(f"cvt.rn.{to}.{source}", to, given(source))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("to", ["f32", "f64", "bf16"])
def test_whole_numbers_beside_the_middle_of_two_floats(bits, to):
    """One more or less than a tie decides, however far down it stands."""
    digits = exact.FORMATS[to][1] + 1
    if digits >= bits - 2:
        return
    least = 1 << (digits - 1)
    ties = [(2 * k + 1) << (bits - 3 - digits) for k in range(least, least + 8)]
    x = [tie + d for tie in ties for d in (-1, 0, 1)]
    for source in (f"s{bits}", f"u{bits}"):
        agreed(f"cvt.rn.{to}.{source}", to, np.array(x, f"u{bits // 8}"))
    agreed(f"cvt.rn.{to}.s{bits}", to, -np.array(x, f"i{bits // 8}"))


@pytest.mark.parametrize("to", [*REAL, "bf16"])
@pytest.mark.parametrize("source", REAL)
def test_between_floats(to, source):
    rng = np.random.default_rng(3)
    x = np.r_[reals(source), rng.normal(size=200).astype(reals(source).dtype)]
    rn = ".rn" if exact.size(to) < exact.size(source) or to == "bf16" else ""
    agreed(f"cvt{rn}.{to}.{source}", to, x)
    if to == source:
        for how in ("rni", "rzi", "rmi", "rpi"):
            agreed(f"cvt.{how}.{to}.{source}", to, x)
    if to in ("f32", "f64"):
        agreed(f"cvt{rn}.sat.{to}.{source}", to, x)


def test_a_float64_beside_the_middle_of_two_bf16():
    x = 1 + 2.0**-8 + np.array([-(2.0**-50), 0, 2.0**-50])
    assert agreed("cvt.rn.bf16.f64", "bf16", x).tolist() == [0x3F80, 0x3F80, 0x3F81]


def test_from_bf16():
    x = np.random.default_rng(4).integers(0, 1 << 16, 300, np.uint16)
    agreed("cvt.f32.bf16", "f32", x)


@pytest.mark.parametrize("type", ["f16x2", "bf16x2"])
def test_two_floats_in_one_register(type):
    """The first operand is the upper half."""
    x = np.random.default_rng(5).normal(size=100).astype(np.float32)
    agreed(f"cvt.rn.{type}.f32", type, x, x[::-1].copy())
    assert machine("cvt.rn.f16x2.f32", "f16x2", x[:1] * 0 + 1, "0f00000000") == 0x3C000000


def test_ftz_of_conversions():
    x = np.array([2.0**-130, -(2.0**-149), 2.0**-126], np.float32)
    assert machine("cvt.rpi.ftz.f32.f32", "f32", x).tolist() == [0.0, -0.0, 1.0]
    assert machine("cvt.ftz.f64.f32", "f64", x).tolist() == [0.0, 0.0, 2.0**-126]
    assert machine("cvt.rn.ftz.f32.f64", "f32", x.astype(np.float64)).tolist() == [0, 0, 2.0**-126]
