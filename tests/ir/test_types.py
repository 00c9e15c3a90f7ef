"""Element types, symbolic sizes and tensor types."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.ir.types import (
    DTYPES,
    DType,
    Sym,
    TensorType,
    divide,
    dtype,
    f32,
    fits,
    parse_type,
    product,
    type_of,
)

names = st.sampled_from(["n", "m", "batch"]).map(Sym.named)
dims = st.one_of(
    st.integers(0, 9), st.lists(st.one_of(names, st.integers(1, 5)), min_size=1).map(product)
)


@given(st.sampled_from(list(DTYPES.values())), st.lists(dims, max_size=4))
def test_a_type_prints_so_that_it_parses_back(kind: DType, shape: list) -> None:
    type = TensorType(kind, tuple(shape))
    assert parse_type(str(type)) == type


@given(dims, dims, st.integers(1, 9), st.integers(1, 9))
def test_products_of_symbols_agree_with_numbers(a, b, n: int, m: int) -> None:
    def number(dim) -> int:
        if isinstance(dim, int):
            return dim
        values = {"n": n, "m": m, "batch": 3}
        result = dim.scale
        for factor in dim.factors:
            result *= values[factor]
        return result

    assert number(product([a, b])) == number(a) * number(b)
    assert product([a, b]) == product([b, a])
    quotient = divide(a, b)
    if quotient is not None:
        assert product([quotient, b]) == a
    if number(b):
        assert divide(product([a, b]), b) == a


def test_sizes_in_elements_and_bytes() -> None:
    type = parse_type("f16[2,3,4]")
    assert (type.rank, type.numel, type.nbytes) == (3, 24, 48)
    assert parse_type("f64[]").numel == 1 and parse_type("i8[0,5]").nbytes == 0
    assert type_of(np.zeros((2, 1), np.uint8)) == parse_type("u8[2,1]")
    assert [DType.of(d.numpy) for d in DTYPES.values()] == list(DTYPES.values())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dtype("float32"), "unknown element type 'float32'; known: f16, f32"),
        (lambda: DType.of(np.complex64), "complex64 is not supported"),
        (lambda: DType.of(">f4"), ">f4 is not supported"),
        (lambda: parse_type("f32(3)"), "expected something like f32"),
        (lambda: parse_type("f32[a b]"), "a whole number or a name"),
        (lambda: TensorType(f32, (-1,)), "negative"),
        (lambda: parse_type("f32[n,4]").numel, "Compile with example inputs"),
    ],
)
def test_words_for_what_is_no_type(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("name", ["true", "false", "null", "inf", "nan", "graph"])
def test_size_cannot_be_called_like_a_value_of_the_text(name: str) -> None:
    with pytest.raises(ValueError, match=f"a symbolic size cannot be called {name}"):
        parse_type(f"f32[{name}]")


def test_a_shape_fits_a_product_of_one_unknown_symbol() -> None:
    def learned(given: str, wanted: str) -> dict[str, int] | None:
        sizes: dict[str, int] = {}
        return sizes if fits(parse_type(given), parse_type(wanted), sizes) else None

    assert learned("f32[4]", "f32[2*n]") == {"n": 2}
    assert learned("f32[5]", "f32[2*n]") is None
    assert learned("f32[12,3]", "f32[m*n,n]") == {"m": 4, "n": 3}
    assert learned("f32[12,5]", "f32[m*n,n]") is None
    assert learned("f32[12]", "f32[m*n]") is None
    assert learned("f32[0,0]", "f32[m*n,n]") is None
