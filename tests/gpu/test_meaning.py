"""What instructions on whole numbers and bits compute, at their edges.

Most is compared with the plain interpreter, which follows the manual's own words; what the manual
says in numbers is here as numbers.
"""

import numpy as np
import pytest

from .one import agreed, machine, pairs, reals, words

TYPES = ("s32", "u32", "s64", "u64")


def int_words(type: str) -> np.ndarray:
    return words(int(type[1:]), type[0] == "s")


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", ["add", "sub", "min", "max", "mul.lo", "mul.hi", "div", "rem"])
def test_two_whole_numbers(name, type):
    x, y = pairs(int_words(type), int_words(type))
    agreed(f"{name}.{type}", type, x, y)


@pytest.mark.parametrize("type", TYPES)
def test_what_a_division_by_zero_gives(type):
    """PTX leaves it open; cards give all ones, and the dividend as the rest."""
    x = int_words(type)
    assert (machine(f"div.{type}", type, x, "0") == np.array(-1).astype(x.dtype)).all()
    assert (machine(f"rem.{type}", type, x, "0") == x).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_the_most_negative_number(bits):
    most = np.array([np.iinfo(f"i{bits // 8}").min])
    for opcode in (f"div.s{bits}", f"mul.lo.s{bits}"):
        assert machine(opcode, f"s{bits}", most, "-1") == most
    assert machine(f"rem.s{bits}", f"s{bits}", most, "-1") == 0
    for opcode in (f"neg.s{bits}", f"abs.s{bits}"):
        assert machine(opcode, f"s{bits}", most) == most


@pytest.mark.parametrize("type", ["s32", "u32"])
def test_products_that_are_wide(type):
    x, y = pairs(int_words(type), int_words(type))
    wide = f"{type[0]}64"
    agreed(f"mul.wide.{type}", wide, x, y)
    for c in int_words(wide)[[0, 8, 9, 11]]:
        agreed(f"mad.wide.{type}", wide, x, y, np.full(len(x), c))
        agreed(f"mad.lo.{type}", type, x, y, np.full(len(x), c).astype(x.dtype))
        agreed(f"mad.hi.{type}", type, x, y, np.full(len(x), c).astype(x.dtype))
    agreed(f"mul24.lo.{type}", type, x, y)
    agreed(f"sad.{type}", type, x, y, np.full(len(x), 7, x.dtype))


def test_the_high_half_of_128_bits():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 1 << 64, (2, 500), np.uint64)
    wanted = [int(a) * int(b) >> 64 for a, b in zip(x, y, strict=True)]
    assert machine("mul.hi.u64", "u64", x, y).tolist() == wanted
    x, y = x.view(np.int64), y.view(np.int64)
    wanted = [int(a) * int(b) >> 64 for a, b in zip(x, y, strict=True)]
    assert machine("mul.hi.s64", "s64", x, y).tolist() == wanted


@pytest.mark.parametrize("name", ["add", "sub"])
def test_sums_that_saturate(name):
    x, y = pairs(int_words("s32"), int_words("s32"))
    found = agreed(f"{name}.sat.s32", "s32", x, y)
    assert {np.iinfo(np.int32).min, np.iinfo(np.int32).max} <= set(found.tolist())


@pytest.mark.parametrize("type", ["b32", "b64", "s32", "s64", "u32", "u64", "b16", "s16", "u16"])
def test_shifts_by_the_size_and_more(type):
    by = np.array([0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, (1 << 32) - 1],
                  np.uint32)  # fmt: skip
    x, n = pairs(int_words(type), by)
    agreed(f"shr.{type}", type, x, n)
    agreed(f"shl.b{type[1:]}", type, x, n)
    for amount in (0, 31, 32, 33, 255):
        agreed(f"shr.{type}", type, x, str(amount))
        agreed(f"shl.b{type[1:]}", type, x, str(amount))


@pytest.mark.parametrize("mode", ["l.wrap", "r.wrap", "l.clamp", "r.clamp"])
def test_funnels(mode):
    by = np.array([0, 1, 31, 32, 33, 63, 255, (1 << 32) - 1], np.uint32)
    agreed(f"shf.{mode}.b32", "b32", *pairs(words(32), words(32), by))


@pytest.mark.parametrize("bits", [32, 64])
def test_fields_at_their_ends(bits):
    places = np.array([0, 1, 5, bits - 1, bits, bits + 1, 128, 255, 256, 257], np.uint32)
    x, first, count = pairs(words(bits), places, places)
    agreed(f"bfe.u{bits}", f"u{bits}", x, first, count)
    agreed(f"bfe.s{bits}", f"s{bits}", x, first, count)
    agreed(f"bfi.b{bits}", f"b{bits}", x, x[::-1].copy(), first, count)


@pytest.mark.parametrize("name", ["popc.b", "clz.b", "bfind.u", "bfind.s", "bfind.shiftamt.u",
                                  "bfind.shiftamt.s"])  # fmt: skip
@pytest.mark.parametrize("bits", [32, 64])
def test_bits_that_are_counted_and_found(name, bits):
    rng = np.random.default_rng(1)
    x = np.r_[words(bits), rng.integers(0, 1 << bits, 100, f"u{bits // 8}")]
    agreed(f"{name}{bits}", "u32", x)
    agreed(f"brev.b{bits}", f"b{bits}", x)
    agreed(f"not.b{bits}", f"b{bits}", x)
    agreed(f"cnot.b{bits}", f"b{bits}", x)


def test_bytes_that_are_picked_with_their_signs():
    which = np.array([0x3210, 0x7654, 0, 0x8888, 0xFEDC, 0x1F2E, 0xFFFF3210, 0xBA98], np.uint32)
    agreed("prmt.b32", "b32", *pairs(words(32), words(32), which))
    found = machine("prmt.b32", "b32", np.array([0x80FF017F], np.uint32), "0", "0xBA98")
    assert found.tolist() == [0xFFFF0000]


def test_all_256_functions_of_three_bits():
    a, b, c = np.random.default_rng(2).integers(0, 1 << 32, (3, 8), np.uint32)
    for table in range(256):
        agreed("lop3.b32", "b32", a, b, c, str(table))
    assert (machine("lop3.b32", "b32", a, b, c, "0x96") == a ^ b ^ c).all()
    assert (machine("lop3.b32", "b32", a, b, c, "0xE8") == (a & b | b & c | a & c)).all()


# ── comparisons and choices ──


@pytest.mark.parametrize("type", TYPES)
def test_comparisons_of_whole_numbers(type):
    x, y = pairs(int_words(type), int_words(type))
    names = ["eq", "ne", "lt", "le", "gt", "ge"] + ["lo", "ls", "hi", "hs"] * (type[0] == "u")
    for name in names:
        agreed(f"setp.{name}.{type}", "pred", x, y)
        for together in ("and", "or", "xor"):
            agreed(f"setp.{name}.{together}.{type}", "pred", x, y, np.arange(len(x)) % 2 == 0)


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_comparisons_of_floats(type):
    x, y = pairs(*[reals(type)[[0, 1, 2, 5, 8, 16, 17, 20, 38, 39, -1]]] * 2)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        agreed(f"setp.{name}.{type}", "pred", x, y)
        agreed(f"setp.{name}u.{type}", "pred", x, y)
        agreed(f"set.{name}.u32.{type}", "u32", x, y)
        if type == "f32":
            agreed(f"setp.{name}.ftz.f32", "pred", x, y)
            agreed(f"set.{name}u.f32.f32", "f32", x, y)
    agreed(f"setp.num.{type}", "pred", x, y)
    agreed(f"setp.nan.{type}", "pred", x, y)


def test_a_choice_by_a_sign():
    x, y, sign = pairs(words(32)[:3], words(32)[9:], reals("f32"))
    agreed("slct.b32.f32", "b32", x, y, sign)
    agreed("slct.b32.s32", "b32", x, y, words(32, True).repeat(100)[: len(x)])
    agreed("selp.b32", "b32", x, y, sign > 0)
