"""The row for the discrete Fourier transform: X[k] = sum over j of x[j] * exp(-2 pi i j k / n).

    %0 = dft(%x) {axis = 1} : f32[1,512,2]      // x: f32[1,512,1], real; or f32[1,512,2], complex

The last axis holds the real and the imaginary part. A transform is a product with a matrix of
cosines and sines. A long one is two short ones (Cooley and Tukey): with j = n2 * j1 + j2 and
k = k1 + n1 * k2, transform along j1, turn each number by the angle of j2 * k1, transform along j2.
So n = 512 = 64 * 8 costs 64 + 8 multiplications for each element and not 512. Next room:
`course_lib/ir/graph/build.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.ir.attributes import Attr
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.composite import composite
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import TensorType
from course_lib.limits import check_room

SHORT = 64  # up to this length the matrix is the cheaper way
LARGEST = 4096  # rows of a matrix that we are willing to keep
Parts = tuple[Node, Node | None]  # real and imaginary; None: all zero


@composite(
    axis=Attr("axis", -2),
    length=Attr("int", None, least=1),
    inverse=Attr("bool", False),
    onesided=Attr("bool", False),
)
def dft(x: Node, *, axis: int, length: int | None, inverse: bool, onesided: bool) -> Node:
    """discrete Fourier transform of x[..., 1 or 2]; onesided: only the half that a real x needs"""
    axis, real = _checked(x.type, axis, onesided and not inverse)
    size = x.type.dims[axis]
    to_real = inverse and onesided
    count = length or (2 * (size - 1) if to_real else size)
    if count < 1:
        raise ValueError(f"dft: {x.type} holds nothing to transform along axis {axis}")
    x = _resized(x, axis, count // 2 + 1 if to_real else count)
    order = [a for a in range(x.type.rank - 1) if a != axis] + [axis]
    parts = [b.transpose(_drop_last(x, k), order) for k in range(1 if real else 2)]
    re, im = parts[0], (None if real else parts[1])
    if to_real:
        re, im = _mirrored(re, im, count)
    re, im = _transformed(re, im, count, 1 if inverse else -1)
    results = [re] if to_real else [re, im if im is not None else re * 0.0]
    if inverse:
        results = [y * (1 / count) for y in results]
    back = [order.index(a) for a in range(len(order))]
    y = b.concat([_add_last(b.transpose(y, back)) for y in results], axis=x.type.rank - 1)
    return _resized(y, axis, count // 2 + 1) if onesided and not inverse else y


def _checked(t: TensorType, axis: int, needs_real: bool) -> tuple[int, bool]:
    """The axis from the front, and whether the numbers are real."""
    if t.rank < 2 or t.shape[-1] not in (1, 2):
        raise ValueError(f"dft: the last axis holds 1 (real) or 2 parts of a number, got {t}")
    axis = normal_axis(axis, t.rank, "dft")
    if axis == t.rank - 1:
        raise ValueError(f"dft: axis {axis} of {t} holds the parts of a number")
    if needs_real and t.shape[-1] == 2:
        raise ValueError(f"dft: half of the result is enough only for real numbers, got {t}")
    return axis, t.shape[-1] == 1


def _resized(x: Node, axis: int, size: int) -> Node:
    """Cut, or filled up with zeros."""
    have = x.type.dims[axis]
    if have > size:
        stops = [size if a == axis else n for a, n in enumerate(x.type.dims)]
        return apply("slice", x, starts=[0] * x.type.rank, stops=stops)
    if have < size:
        high = [size - have if a == axis else 0 for a in range(x.type.rank)]
        return apply("pad", x, low=[0] * x.type.rank, high=high, value=0.0)
    return x


def _drop_last(x: Node, part: int) -> Node:
    *shape, parts = x.type.dims
    if parts > 1:
        x = apply("slice", x, starts=(*[0] * len(shape), part), stops=(*shape, part + 1))
    return b.reshape(x, shape)


def _add_last(x: Node) -> Node:
    return b.reshape(x, (*x.type.dims, 1))


def _mirrored(re: Node, im: Node | None, count: int) -> Parts:
    """All frequencies of real numbers from the first half: the others are their conjugates."""
    twins = np.minimum(np.arange(count), count - np.arange(count))
    pick = b.const(twins)
    sign = np.where(np.arange(count) > count // 2, -1.0, 1.0).astype(re.type.dtype.numpy)
    last = re.type.rank - 1
    re = apply("gather", re, pick, axis=last)
    return re, None if im is None else apply("gather", im, pick, axis=last) * b.const(sign)


def _transformed(re: Node, im: Node | None, n: int, sign: int) -> Parts:
    """Along the last axis, of size n."""
    check_room(re.type.nbytes, f"dft: {re.type}")
    first = max((d for d in range(2, SHORT + 1) if n % d == 0), default=n)
    if n <= SHORT or first == n:
        if n > LARGEST:
            raise ValueError(f"dft: a length of {n}, which no number from 2 to {SHORT} divides, "
                             f"needs a matrix of that size; the largest is {LARGEST}")  # fmt: skip
        cos, sin = _turns(n, n, n, sign, re)
        return _product(b.matmul, re, im, cos, sin)
    rest = n // first
    apart = (*re.type.dims[:-1], first, rest)
    re, im = b.reshape(re, apart), None if im is None else b.reshape(im, apart)
    cos, sin = _turns(first, first, first, sign, re)
    re, im = _product(lambda x, w: b.matmul(w, x), re, im, cos, sin)
    re, im = _product(b.mul, re, im, *_turns(first, rest, n, sign, re))
    re, im = _transformed(re, im, rest, sign)
    swap = (*range(len(apart) - 2), len(apart) - 1, len(apart) - 2)
    whole = (*apart[:-2], n)
    together = [b.reshape(b.transpose(v, swap), whole) for v in (re, im) if v is not None]
    return together[0], together[1]


def _turns(rows: int, columns: int, n: int, sign: int, like: Node) -> tuple[Node, Node]:
    """cos and sin of sign * 2 pi * row * column / n."""
    steps = np.outer(np.arange(rows), np.arange(columns)) % n  # exact, however long
    angle, kind = sign * 2 * np.pi * steps / n, like.type.dtype.numpy
    return b.const(np.cos(angle).astype(kind)), b.const(np.sin(angle).astype(kind))


def _product(times, re: Node, im: Node | None, cos: Node, sin: Node) -> tuple[Node, Node]:
    """(re + i im) * (cos + i sin), for a product of any kind."""
    if im is None:
        return times(re, cos), times(re, sin)
    return times(re, cos) - times(im, sin), times(re, sin) + times(im, cos)
