"""Types: what the compiler knows about a value before it runs.

    f32[1,3,224,224]      a float tensor with four known sizes
    f32[n,512]            the batch size is a symbol, known only when the model runs

Next room: `ir/graph/node.py`, where every value carries one of these.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from course_lib.arguments import takes


@dataclass(frozen=True, eq=False)
class DType:
    """An element type. `name` is how it prints, `size` its bytes per element. There is one object
    for each, so that to compare two of them is to compare two objects."""

    name: str
    numpy: np.dtype
    kind: str  # "float", "int" (signed), "uint" or "bool"

    @property
    def size(self) -> int:
        return self.numpy.itemsize

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def holds(self, number: float | int | bool) -> bool:
        """Is the number one of this type's? A float type rounds, but no finite number to infinity;
        0 and 1 are truth values."""
        if self.is_float:
            size = abs(number if isinstance(number, int) else float(number))
            return not self._beyond <= size < math.inf  # infinity and NaN are its own
        if self.kind == "bool":
            return number in (0, 1)
        limits = np.iinfo(self.numpy)
        return limits.min <= number <= limits.max and int(number) == number

    def array(self, numbers: Any) -> np.ndarray:
        """An array, a number or nested lists of numbers as an array of this type; ValueError for a
        number that is not one of the type's."""
        for number in flat(numbers):
            if isinstance(number, (bool, int, float)) and not self.holds(number):
                raise ValueError(f"{self} has no number {number}")
        try:
            return np.asarray(numbers, self.numpy)
        except TypeError:
            raise ValueError(f"{self} is a type of numbers, got {numbers!r:.60}") from None

    @functools.cached_property
    def _beyond(self) -> int:
        """From here on, a float type rounds to infinity: half a step behind its largest number."""
        largest = np.finfo(self.numpy).max
        step = int(largest) - int(np.nextafter(largest, self.numpy.type(0)))
        return int(largest) + step // 2

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype, (self.name,)  # a copy, or what arrives in another process, is the one there

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    @staticmethod
    def of(numpy_dtype: Any) -> DType:
        """The element type of a numpy dtype (or of anything `np.dtype` accepts)."""
        wanted = np.dtype(numpy_dtype)
        if wanted in _BY_NUMPY:
            return _BY_NUMPY[wanted]
        raise ValueError(f"element type {wanted} is not supported; known: {', '.join(DTYPES)}")


def flat(numbers: Any) -> list[Any]:
    """What nested lists hold, in order."""
    return (
        [v for n in numbers for v in flat(n)] if isinstance(numbers, (list, tuple)) else [numbers]
    )


def _table(*rows: tuple[str, Any, str]) -> dict[str, DType]:
    return {name: DType(name, np.dtype(numpy), kind) for name, numpy, kind in rows}


DTYPES = _table(
    ("f16", np.float16, "float"),
    ("f32", np.float32, "float"),
    ("f64", np.float64, "float"),
    ("i8", np.int8, "int"),
    ("i16", np.int16, "int"),
    ("i32", np.int32, "int"),
    ("i64", np.int64, "int"),
    ("u8", np.uint8, "uint"),
    ("u16", np.uint16, "uint"),
    ("u32", np.uint32, "uint"),
    ("u64", np.uint64, "uint"),
    ("bool", np.bool_, "bool"),
)
_BY_NUMPY = {entry.numpy: entry for entry in DTYPES.values()}
f16, f32, f64 = DTYPES["f16"], DTYPES["f32"], DTYPES["f64"]
i8, i16, i32, i64 = DTYPES["i8"], DTYPES["i16"], DTYPES["i32"], DTYPES["i64"]
u8, u16, u32, u64 = DTYPES["u8"], DTYPES["u16"], DTYPES["u32"], DTYPES["u64"]
bool_ = DTYPES["bool"]


def dtype(name: str) -> DType:
    """Look an element type up by its printed name."""
    if name not in DTYPES:
        raise ValueError(f"unknown element type {name!r}; known: {', '.join(DTYPES)}")
    return DTYPES[name]


RESERVED = ("true", "false", "null", "inf", "nan", "graph")  # words of the text form


@dataclass(frozen=True, order=True)
class Sym:
    """A size that is known only at run time: a product `scale * a * b * ...` of named symbols.

    Products are all that reshape and flatten need; `n * 4 == 4 * n` holds because the factors
    are kept sorted.
    """

    factors: tuple[str, ...]
    scale: int = 1

    @staticmethod
    def named(name: str) -> Sym:
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ValueError(f"a size is a whole number or a name, got {name!r}")
        if name in RESERVED:
            raise ValueError(f"a symbolic size cannot be called {name}: in a text that is a value")
        return Sym((name,))

    def __mul__(self, other: Dim) -> Dim:
        if isinstance(other, Sym):
            return Sym(tuple(sorted(self.factors + other.factors)), self.scale * other.scale)
        return 0 if other == 0 else Sym(self.factors, self.scale * other)

    __rmul__ = __mul__

    def __str__(self) -> str:
        scale = [str(self.scale)] if self.scale != 1 else []
        return "*".join(scale + list(self.factors))

    __repr__ = __str__


Dim = Union[int, Sym]


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    """The number of elements that these sizes span; a `Sym` if any of them is one."""
    result: Dim = 1
    for dim in dims:
        result = result * dim
    return result


def divide(total: Dim, part: Dim) -> Dim | None:
    """`total / part` if that is exact for every value of the symbols, else None."""
    if isinstance(total, int) and isinstance(part, int):
        return None if part == 0 or total % part else total // part
    if total == 0:
        return 0
    total_scale, total_factors = (
        (total.scale, Counter(total.factors)) if isinstance(total, Sym) else (total, Counter())
    )
    part_scale, part_factors = (
        (part.scale, Counter(part.factors)) if isinstance(part, Sym) else (part, Counter())
    )
    if part_scale == 0 or total_scale % part_scale or part_factors - total_factors:
        return None
    left = tuple(sorted((total_factors - part_factors).elements()))
    scale = total_scale // part_scale
    return Sym(left, scale) if left and scale else scale


MOST = 2**63 - 1  # bytes that an address can tell apart


@dataclass(frozen=True)
class TensorType:
    """Element type and shape; the elements lie in row-major order."""

    dtype: DType
    shape: tuple[Dim, ...]

    def __post_init__(self) -> None:
        if (
            type(self.shape) is tuple
            and all([type(d) is int and 0 <= d <= MOST for d in self.shape])
            and math.prod(self.shape) * self.dtype.size <= MOST  # type: ignore[operator]
        ):
            return  # the usual case
        shape = tuple(d if isinstance(d, Sym) else int(d) for d in self.shape)
        object.__setattr__(self, "shape", shape)
        known = [d for d in self.shape if isinstance(d, int)]
        if min(known, default=0) < 0:
            raise ValueError(f"a shape cannot have negative sizes: {self.shape}")
        if max(known, default=0) > MOST or math.prod(known) * self.dtype.size > MOST:
            raise ValueError(f"no address reaches the end of a tensor of {self.dtype}{list(shape)}")

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return all(isinstance(d, int) for d in self.shape)

    @functools.cached_property
    def dims(self) -> tuple[int, ...]:
        """The shape as plain integers; an error that says what to do if it holds a symbol."""
        if not self.is_static:
            raise ValueError(
                f"{self} has a symbolic size; this step needs numbers. "
                "Compile with example inputs of the size that you want to run."
            )
        return tuple(d for d in self.shape if isinstance(d, int))

    @functools.cached_property
    def numel(self) -> int:
        return math.prod(self.dims)

    @functools.cached_property
    def nbytes(self) -> int:
        return self.numel * self.dtype.size

    def with_shape(self, shape: tuple[Dim, ...]) -> TensorType:
        return TensorType(self.dtype, shape)

    @functools.cached_property
    def text(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


_TYPE = re.compile(r"(\w+)\[([^\]]*)\]")


@takes
@functools.lru_cache(maxsize=4096)
def parse_type(text: str) -> TensorType:
    """The inverse of `str(type)`."""
    match = _TYPE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not a tensor type: {text!r}; expected something like f32[1,3,224,224]")
    sizes = [s.strip() for s in match[2].split(",") if s.strip()]
    return TensorType(dtype(match[1]), tuple(parse_dim(s) for s in sizes))


def parse_dim(text: str) -> Dim:
    """The inverse of `str(size)`: a number, a name, or a product of them as in `2*n`."""
    factors = [int(f) if f.isdigit() else Sym.named(f) for f in text.split("*")]
    return product(factors)


def type_of(array: np.ndarray) -> TensorType:
    """The type of a numpy array."""
    return TensorType(DType.of(array.dtype), array.shape)


def fits(given: TensorType, wanted: TensorType, sizes: dict[str, int]) -> bool:
    """Is `given` an instance of `wanted`? `sizes` has the symbols seen so far, and learns more.

    From `f32[4]` and `f32[2*n]` it learns n = 2. A product of two symbols teaches nothing: at least
    one of them must be known by then.
    """
    if given.dtype != wanted.dtype or given.rank != wanted.rank:
        return False
    pairs = list(zip(given.dims, wanted.shape, strict=True))
    pairs.sort(key=lambda pair: len(pair[1].factors) if isinstance(pair[1], Sym) else 0)
    return all(_fits(have, want, sizes) for have, want in pairs)


def _fits(have: int, want: Dim, sizes: dict[str, int]) -> bool:
    if isinstance(want, Sym):
        unknown = [f for f in want.factors if f not in sizes]
        known = math.prod((want.scale, *(sizes[f] for f in want.factors if f in sizes)))
        if len(unknown) == 1 and known and have % known == 0:
            sizes[unknown[0]] = have // known
            return True
        return not unknown and have == known
    return have == want
