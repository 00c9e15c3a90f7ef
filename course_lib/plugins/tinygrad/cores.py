"""The chip's array as a tensor core, in the words in which tinygrad's scheduler asks for it.

    tensor_core(MatrixUnit(4, 4, 4))   ->   TensorCore(dims=(4, 4, 4), threads=8, ...)

For tinygrad a tensor core is an instruction that the lanes of a warp give together; each brings a
few numbers of both operands and gets a few sums. It splits the axes of a product in halves, again
and again: `opts` says for each halving of n (axis 0) and m (axis 1) whether the two halves are
lanes (l) or numbers of one lane (u), the lowest bit first; k is always halved last (r). `swizzle`
says which of these bits an operand finds at the place of each l, u and r. Ours is the plainest:
lane l of a warp with half as many lanes as a tile has numbers brings numbers l and l + lanes of
a[m, k], of b[k, n], and gets those of c[m, n], row by row.

The element type is int32 on both sides, although the cells multiply int8: tinygrad's product of two
int8 tensors wraps at 8 bits, so that only `a.cast("int32") @ b.cast("int32")` is the product that
the chip computes. (tinygrad declares int8 for the tensor cores of an RDNA3, and there the same
program gives other numbers than without them.) `render.py` sends to the chip what surely fits into
int8. Next room: `device.py`.
"""

from __future__ import annotations

from tinygrad.codegen.opt.tc import TensorCore
from tinygrad.dtype import dtypes

from course_lib.accelerator.compile.unit import MatrixUnit


def tensor_core(unit: MatrixUnit) -> TensorCore:
    """The unit as tinygrad has it. ValueError if it cannot be halved as tinygrad does it."""
    if not unit.m == unit.k == unit.n or unit.n < 2 or unit.n & (unit.n - 1):
        raise ValueError(
            f"tinygrad halves a tile's axes, so a tile is a cube whose side is a power of two; "
            f"this unit has {unit.m}x{unit.k}x{unit.n}"
        )
    bits = unit.n.bit_length() - 1
    cols = tuple(f"l{bit}" for bit in range(bits))  # the lane's low bits: along a row
    rows = tuple(f"l{bit}" for bit in range(bits, 2 * bits - 1))
    k = tuple(f"r{bit}" for bit in range(bits))
    a = ((*k, *rows), ("u0",), cols)
    b = ((*cols, *k[:-1]), k[-1:], (*rows, "u0"))
    return TensorCore(
        dims=(unit.n, unit.m, unit.k),
        threads=unit.n * unit.m // 2,
        elements_per_thread=(2, 2, 2),
        dtype_in=dtypes.int32,
        dtype_out=dtypes.int32,
        opts=("l0",) * bits + ("l1",) * (bits - 1) + ("u1",),
        swizzle=(a, b),
    )
